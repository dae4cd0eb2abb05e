"""What a deployment chooses otherwise than the tables' designs, for all of its tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from graph.store.configuration import ON_DEMAND, Provisioned
from graph.store.design import TableDesign, table_name

DOCUMENTED: Final = "documented"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChoices:
    """The choices. By default, each table is as it is designed."""

    prefix: str = ""  # of each table's name
    environment: str = "dev"  # the value of `{env}` in the names
    billing: Literal["documented", "on-demand", "provisioned"] = DOCUMENTED
    capacity: tuple[int, int] | None = None  # least and most units of what is provisioned
    encryption: str = DOCUMENTED  # or what `TableDesign.encryption` can be
    recovery: bool = True
    protection: bool = True
    stream: bool = True
    alarm_topic: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)  # beside those of the design

    def of(self, design: TableDesign) -> TableDesign:
        """The design with what was chosen."""
        billing = design.billing
        if self.billing == "on-demand":
            billing = ON_DEMAND
        elif self.billing == "provisioned" and not isinstance(billing, Provisioned):
            billing = Provisioned()
        if self.capacity and isinstance(billing, Provisioned):
            billing = replace(billing, least=self.capacity[0], most=self.capacity[1])
        return replace(
            design,
            billing=billing,
            encryption=design.encryption if self.encryption == DOCUMENTED else self.encryption,
            recovery=design.recovery and self.recovery,
            protection=design.protection and self.protection,
            stream=design.stream and self.stream,
            alarms=tuple(
                replace(alarm, topic=self.alarm_topic)
                for alarm in design.alarms
                if isinstance(billing, Provisioned) or not alarm.is_of_capacity
            ),
            tags=tuple({**dict(design.tags), **self.tags}.items()),
        )

    def tables(self, designs: Iterable[TableDesign]) -> dict[TableDesign, str]:
        """The designs with what was chosen, each with its table's name on DynamoDB."""
        return {self.of(each): table_name(each, prefix=self.prefix, environment=self.environment) for each in designs}


AS_DESIGNED = TableChoices()
