"""What the second tier adds to the first: Chromium."""

from tests.acceptance.browser import browser as browser
from tests.acceptance.browser import chromium as chromium
from tests.acceptance.browser import module_visit as module_visit
from tests.acceptance.browser import own_page as own_page
from tests.acceptance.browser import page as page
from tests.acceptance.browser import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.acceptance.browser import shared_context as shared_context
from tests.acceptance.browser import visit as visit
from tests.acceptance.browser import webgl_page as webgl_page
from tests.acceptance.browser import webgl_visit as webgl_visit
