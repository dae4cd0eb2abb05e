"""What a table's document says of it beside its keys: billing, encryption and alarms, as values of a design."""

from dataclasses import dataclass
from typing import Final

AWS_KEY: Final = "aws-managed"
"""Encryption with the key that AWS manages for DynamoDB in the account."""

CUSTOMER_KEY: Final = "customer-managed"
"""Encryption with a KMS key of the table's own, which is rotated each year."""


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Billing by request."""

    def __str__(self) -> str:
        return "on demand"


@dataclass(frozen=True, slots=True)
class Provisioned:
    """Billing by capacity units. Those for reads and writes, of the table and of each index, scale on their own."""

    least: int = 5
    most: int = 100
    percent: int = 70  # of the capacity, which auto-scaling aims to have in use

    def __str__(self) -> str:
        return f"provisioned, {self.least} to {self.most} units at {self.percent} %"


Billing = OnDemand | Provisioned
ON_DEMAND = OnDemand()


@dataclass(frozen=True, slots=True)
class Alarm:
    """A metric of DynamoDB in CloudWatch that is above a threshold for a time.

    A metric of consumed capacity is compared with the provisioned one, in percent, for the table and for each index.
    Other metrics are of the operations together, or of the whole account if there are none.
    """

    metric: str
    above: float
    operations: tuple[str, ...] = ()
    statistic: str = "Sum"
    minutes: int = 5
    topic: str | None = None  # ARN of the SNS topic that is told

    @property
    def is_of_capacity(self) -> bool:
        """Whether the threshold is a percentage of the provisioned capacity."""
        return self.metric.startswith("Consumed")

    def __str__(self) -> str:
        names = " and ".join(self.operations) if len(self.operations) == 1 else ""
        what = " ".join(filter(None, [names, self.metric, self.statistic.replace("Sum", "")]))
        unit = " %" if self.is_of_capacity else " ms" if self.metric.endswith("Latency") else ""
        return f"{what} > {self.above:g}{unit} for {self.minutes} minutes"
