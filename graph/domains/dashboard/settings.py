"""The setting of the dashboard."""

from pydantic import Field

from graph.settings import SettingsPart


class DashboardSettings(SettingsPart):
    """Whether there are web pages."""

    dashboard: bool = Field(True, description="Whether `/` is the dashboard.")
