"""The alarms of a table, in the form of CloudWatch's `PutMetricAlarm`, which CloudFormation uses too."""

from collections.abc import Iterator, Mapping

from graph.store.configuration import Alarm
from graph.store.design import TableDesign
from graph.store.dynamodb.declaration import Json

PERIOD_S = 300  # provisioned capacity is a metric of each five minutes


def alarms(design: TableDesign, name: str) -> Iterator[Json]:
    """The table's alarms, and those of its indexes."""
    for alarm in design.alarms:
        if alarm.is_of_capacity:
            for index in ("", *(index.name for index in design.indexes)):
                of_index = {"TableName": name} | ({"GlobalSecondaryIndexName": index} if index else {})
                yield _alarm(alarm, name, alarm.metric, index) | {"Metrics": _share_of_capacity(alarm, of_index)}
        elif len(alarm.operations) > 1:
            yield _alarm(alarm, name, alarm.metric) | {"Metrics": _sum_over_operations(alarm, name)}
        else:
            dimensions = {"TableName": name, "Operation": alarm.operations[0]} if alarm.operations else {}
            statistic = "Statistic" if alarm.statistic == "Sum" else "ExtendedStatistic"
            measured = {**_metric(alarm.metric, dimensions), statistic: alarm.statistic, "Period": PERIOD_S}
            yield _alarm(alarm, name, *alarm.operations, alarm.metric) | measured


def _alarm(alarm: Alarm, table: str, *words: str) -> Json:
    return {
        "AlarmName": "-".join(filter(None, [table, *words])),
        "AlarmDescription": f"{alarm}.",
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": alarm.above,
        "EvaluationPeriods": alarm.minutes * 60 // PERIOD_S,
        "TreatMissingData": "notBreaching",
        **({"AlarmActions": [alarm.topic]} if alarm.topic else {}),
    }


def _sum_over_operations(alarm: Alarm, table: str) -> list[Json]:
    """DynamoDB counts by operation, and only what is not zero."""
    names = [operation[:1].lower() + operation[1:] for operation in alarm.operations]
    metrics = [
        _of(name, alarm.metric, {"TableName": table, "Operation": operation}, alarm.statistic)
        for name, operation in zip(names, alarm.operations, strict=True)
    ]
    return [_expression("all", " + ".join(f"FILL({name}, 0)" for name in names), alarm.metric), *metrics]


def _share_of_capacity(alarm: Alarm, dimensions: Mapping[str, str]) -> list[Json]:
    """What was consumed in a second, in percent of the provisioned capacity."""
    provisioned = alarm.metric.replace("Consumed", "Provisioned")
    return [
        _expression("used", "100 * consumed / PERIOD(consumed) / provisioned", f"{alarm.metric}, %"),
        _of("consumed", alarm.metric, dimensions, "Sum"),
        _of("provisioned", provisioned, dimensions, "Average"),
    ]


def _metric(metric: str, dimensions: Mapping[str, str]) -> Json:
    named = [{"Name": name, "Value": value} for name, value in dimensions.items()]
    return {"Namespace": "AWS/DynamoDB", "MetricName": metric, **({"Dimensions": named} if named else {})}


def _of(name: str, metric: str, dimensions: Mapping[str, str], statistic: str) -> Json:
    stat = {"Metric": _metric(metric, dimensions), "Period": PERIOD_S, "Stat": statistic}
    return {"Id": name, "MetricStat": stat, "ReturnData": False}


def _expression(name: str, expression: str, label: str) -> Json:
    return {"Id": name, "Expression": expression, "Label": label, "ReturnData": True}
