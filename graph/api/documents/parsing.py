"""Parses documents into nodes that hold no tokens.

graphql-core keeps a document's tokens in a doubly linked list, and each node refers to two of them.
Such a document takes twice the memory, and only a full run of the garbage collector frees it, which
is rare in this service. The locations of errors need only offsets.
"""

from contextlib import suppress
from dataclasses import dataclass

from graphql import DocumentNode, GraphQLSyntaxError, Lexer, Source, Token, TokenKind
from graphql.language.parser import Parser

from graph.api.fast.nodes import walk
from graph.core.errors import QueryTooComplex

GIVEN_UP = " Parsing aborted."  # the end of the parser's message about too many tokens
_NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed document that is not validated yet."""

    node: DocumentNode
    nodes: int  # their number in the document


def parse_document(text: str, *, max_tokens: int) -> Parsed:
    """Parse a text.

    Raises:
        GraphQLSyntaxError: The text is no document.
        QueryTooComplex: It has too many tokens or levels of nesting.
    """
    source = Source(text)
    too_complex = "Document is nested too deeply."
    document = None
    with suppress(RecursionError):
        try:
            document = Parser(source, max_tokens=max_tokens, lexer=_ForwardLexer(source)).parse_document()
        except GraphQLSyntaxError as error:
            if not error.message.endswith(GIVEN_UP):
                raise
            too_complex = error.message.removeprefix("Syntax Error: ").removesuffix(GIVEN_UP)
    if document is None:
        raise QueryTooComplex(too_complex)  # outside of `except`, so that it holds no frame of the parser
    nodes = 0
    for node in walk(document):
        nodes += 1
        if node.loc:
            node.loc.start_token = node.loc.end_token = _NO_TOKEN
    return Parsed(document, nodes)


class _ForwardLexer(Lexer):
    """Reads tokens that refer only to the next one. Without cycles, they are freed at once."""

    def lookahead(self) -> Token:
        token = self.token
        try:
            return super().lookahead()
        finally:
            while token.next:  # comments are tokens too
                token = token.next
                token.prev = None
