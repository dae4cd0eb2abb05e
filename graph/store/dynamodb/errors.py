"""Translates errors of botocore and DynamoDB into the store's two errors: a table of each, and one function.

    DatabaseUnavailable   it may work later, or after an operator has fixed something
    InvalidItem           it will never work: the request itself is wrong

The engine handles `ConditionalCheckFailed`, a cancelled transaction and a conflict itself. A test
checks every error of the operations in use, so an upgrade with a new one needs a new rule.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore import exceptions as botocore
from botocore.parsers import ResponseParserError

from graph.core.errors import DatabaseUnavailable
from graph.store.values import InvalidItem

NETWORK = "does not answer: check the network and AWS_ENDPOINT_URL"
CREDENTIALS = "cannot be used without valid credentials: check AWS_ACCESS_KEY_ID, AWS_PROFILE or the role"
CONFIGURATION = "cannot be found: check AWS_REGION, AWS_ENDPOINT_URL and the AWS configuration file"
SOFTWARE = "cannot be used by this installation: boto refuses to send the request"
PERMISSION = "may not be used by these credentials: check the policy of the user or role"
OVERLOAD = "is overloaded, or throttles this account"
OUTAGE = "answers with an internal error"
CONTENTION = "is kept busy by other writers of the same items"
MISSING = "does not exist: run `quakegraph tables create`"
UNLIKE = "differs from its declaration: run `quakegraph tables check`"
STREAMLESS = "has no stream of its changes: run `quakegraph tables adopt`"
LOST_PLACE = "was not read for too long, and is read again from now on"  # a stream: iterators live for 15 minutes
CHANGING = "is being created or changed: wait until it is active"
REFUSED = "refuses the request"
UNKNOWN = "fails for an unknown reason"

Invalid = None
"""No advice for the operator: the caller made a mistake."""

BOTOCORE: tuple[tuple[str | None, tuple[type[Exception], ...]], ...] = (
    (
        NETWORK,
        (
            botocore.ConnectionError,
            botocore.HTTPClientError,
            botocore.IncompleteReadError,
            botocore.ChecksumError,
            botocore.FlexibleChecksumError,
            botocore.AwsChunkedWrapperError,
            botocore.CapacityNotAvailableError,  # botocore's own brake after many failures
            ResponseParserError,
            OSError,
        ),
    ),
    (
        CREDENTIALS,
        (
            botocore.NoCredentialsError,
            botocore.PartialCredentialsError,
            botocore.CredentialRetrievalError,
            botocore.UnknownCredentialError,
            botocore.NoAuthTokenError,
            botocore.TokenRetrievalError,
            botocore.MetadataRetrievalError,
            botocore.InvalidIMDSEndpointError,
            botocore.InvalidIMDSEndpointModeError,
            botocore.RefreshWithMFAUnsupportedError,
            botocore.SSOError,
            botocore.ProfileNotFound,
        ),
    ),
    (
        CONFIGURATION,
        (
            botocore.BaseEndpointResolverError,
            botocore.EndpointProviderError,
            botocore.UnknownRegionError,
            botocore.InvalidRegionError,
            botocore.ServiceNotInRegionError,
            botocore.InvalidDNSNameError,
            botocore.InvalidHostLabelError,
            botocore.InvalidEndpointConfigurationError,
            botocore.InvalidEndpointDiscoveryConfigurationError,
            botocore.InvalidConfigError,
            botocore.InvalidDefaultsMode,
            botocore.InvalidChecksumConfigError,
            botocore.InvalidProxiesConfigError,
            botocore.InvalidRetryConfigurationError,
            botocore.InvalidSTSRegionalEndpointsConfigError,
            botocore.InvalidS3UsEast1RegionalEndpointConfigError,
            botocore.ConfigParseError,
            botocore.ConfigNotFound,
        ),
    ),
    (Invalid, (botocore.ParamValidationError, botocore.MissingParametersError, botocore.ValidationError)),
    (SOFTWARE, (botocore.BotoCoreError,)),  # all others
)

_CODES: dict[str | None, str] = {
    OVERLOAD: "ProvisionedThroughputExceededException RequestLimitExceeded ThrottlingException Throttling "
    "LimitExceededException",
    OUTAGE: "InternalServerError InternalFailure ServiceUnavailable ServiceUnavailableException",
    # ConditionalCheckFailed is one only for a request without a condition of ours.
    CONTENTION: "TransactionConflictException TransactionCanceledException TransactionInProgressException "
    "ReplicatedWriteConflictException ConditionalCheckFailedException",
    MISSING: "ResourceNotFoundException TableNotFoundException",
    CHANGING: "ResourceInUseException ContinuousBackupsUnavailableException",
    PERMISSION: "AccessDeniedException AccessDenied OptInRequired NotAuthorized",
    CREDENTIALS: "UnrecognizedClientException InvalidClientTokenId InvalidSignatureException SignatureDoesNotMatch "
    "IncompleteSignature IncompleteSignatureException MissingAuthenticationToken MissingAuthenticationTokenException "
    "ExpiredToken ExpiredTokenException RequestExpired",
    CONFIGURATION: "InvalidEndpointException",
    LOST_PLACE: "ExpiredIteratorException TrimmedDataAccessException",
    # UnknownOperation comes from an endpoint that speaks only part of the protocol.
    REFUSED: "UnknownOperationException IdempotentParameterMismatchException",
    Invalid: "ValidationException SerializationException ItemCollectionSizeLimitExceededException",
}
CODES = {code: advice for advice, codes in _CODES.items() for code in codes.split()}

CONFLICTS = frozenset({"TransactionConflictException", "ReplicatedWriteConflictException"})
"""Another writer was changing the item, so the same request may succeed now."""

_INDEX_TROUBLE = {
    "does not have the specified index": UNLIKE,
    "backfilling global secondary index": CHANGING,
}
"""Texts of a `ValidationException` that is not the caller's mistake."""


FOREIGN = (botocore.ClientError, botocore.BotoCoreError, ResponseParserError, OSError)
"""The errors that botocore raises on purpose."""


@contextmanager
def translating_errors(*tables: str) -> Iterator[None]:
    """Translate errors inside into the store's errors, with their causes."""
    try:
        yield
    except FOREIGN as error:
        raise translated(error, *tables) from error


def translated(error: Exception, *tables: str) -> DatabaseUnavailable | InvalidItem:
    """The store's error for an error of botocore's in a call to these tables."""
    reason, advice = f"{type(error).__name__}: {error}", advice_on(error)
    if advice is Invalid:
        return InvalidItem(reason)
    return DatabaseUnavailable(f"{subject(*tables)} {advice} ({reason})")


def subject(*tables: str) -> str:
    """The tables, as the subject of a sentence."""
    names = sorted(set(tables))
    return f"table {names[0]}" if len(names) == 1 else f"one of the tables {', '.join(names)}"


def advice_on(error: Exception) -> str | None:
    """The advice for an operator, or `Invalid`."""
    if isinstance(error, botocore.ClientError):
        return _advice_on_code(error)
    for advice, kinds in BOTOCORE:
        if isinstance(error, kinds):
            return advice
    return UNKNOWN


def code_of(error: botocore.ClientError) -> str:
    """DynamoDB's name of an error."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _advice_on_code(error: botocore.ClientError) -> str | None:
    code = code_of(error)
    for text, advice in _INDEX_TROUBLE.items():
        if code == "ValidationException" and text in str(error):
            return advice
    if code in CODES:
        return CODES[code]
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return OUTAGE if status >= 500 else UNKNOWN
