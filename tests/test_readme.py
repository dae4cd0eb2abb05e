"""What the README promises is so: its queries have the printed answers, its table has every setting."""

import json
import re
from pathlib import Path

import pytest

from graph.settings import Settings
