"""The alarms of a table, in the form of CloudWatch's `PutMetricAlarm`, which CloudFormation uses too."""

from collections.abc import Iterator

from graph.store.configuration import Alarm
from graph.store.design import TableDesign
from graph.store.dynamodb.declaration import Json

NAMESPACE = "AWS/DynamoDB"
PERIOD_S = 300  # provisioned capacity is a metric of each five minutes


def alarms(design: TableDesign, name: str) -> Iterator[Json]:
    """The table's alarms, and those of its indexes."""
    for alarm in design.alarms:
        if alarm.is_of_capacity:
            for index in ("", *(index.name for index in design.indexes)):
                own = [
                    _dimension("TableName", name),
                    *([_dimension("GlobalSecondaryIndexName", index)] if index else []),
                ]
                yield _alarm(alarm, name, alarm.metric, index) | {"Metrics": _share_of_capacity(alarm, own)}
        elif len(alarm.operations) > 1:
            yield _alarm(alarm, name, alarm.metric) | {"Metrics": _sum_over_operations(alarm, name)}
        else:
            dimensions = [_dimension("TableName", name)] if alarm.operations else []
            dimensions += [_dimension("Operation", operation) for operation in alarm.operations]
            statistic = "Statistic" if alarm.statistic == "Sum" else "ExtendedStatistic"
            yield _alarm(alarm, name, *alarm.operations, alarm.metric) | {
                **_metric(alarm.metric, dimensions),
                statistic: alarm.statistic,
                "Period": PERIOD_S,
            }


def _alarm(alarm: Alarm, table: str, *words: str) -> Json:
    periods = alarm.minutes * 60 // PERIOD_S
    actions = {"AlarmActions": [alarm.topic]} if alarm.topic else {}
    return {
        "AlarmName": "-".join(filter(None, [table, *words])),
        "AlarmDescription": f"{alarm}.",
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": alarm.above,
        "EvaluationPeriods": periods,
        "TreatMissingData": "notBreaching",
        **actions,
    }


def _sum_over_operations(alarm: Alarm, table: str) -> list[Json]:
    """DynamoDB counts by operation, and only what is not zero."""
    names = [operation[:1].lower() + operation[1:] for operation in alarm.operations]
    metrics = [
        _of(name, alarm.metric, [_dimension("TableName", table), _dimension("Operation", operation)], alarm.statistic)
        for name, operation in zip(names, alarm.operations, strict=True)
    ]
    return [_expression("all", " + ".join(f"FILL({name}, 0)" for name in names), alarm.metric), *metrics]


def _share_of_capacity(alarm: Alarm, dimensions: list[Json]) -> list[Json]:
    """What was consumed in a second, in percent of the provisioned capacity."""
    provisioned = alarm.metric.replace("Consumed", "Provisioned")
    return [
        _expression("used", "100 * consumed / PERIOD(consumed) / provisioned", f"{alarm.metric}, %"),
        _of("consumed", alarm.metric, dimensions, "Sum"),
        _of("provisioned", provisioned, dimensions, "Average"),
    ]


def _metric(metric: str, dimensions: list[Json]) -> Json:
    return {"Namespace": NAMESPACE, "MetricName": metric, **({"Dimensions": dimensions} if dimensions else {})}


def _of(name: str, metric: str, dimensions: list[Json], statistic: str) -> Json:
    stat = {"Metric": _metric(metric, dimensions), "Period": PERIOD_S, "Stat": statistic}
    return {"Id": name, "MetricStat": stat, "ReturnData": False}


def _expression(name: str, expression: str, label: str) -> Json:
    return {"Id": name, "Expression": expression, "Label": label, "ReturnData": True}


def _dimension(name: str, value: str) -> Json:
    return {"Name": name, "Value": value}
