"""kill -9 in each stage of an analysis: it is done once, paid for once, told of once."""

from __future__ import annotations

import pytest

from tests.ingest.test_analyses import assert_done_once_after_kills
from tests.ingest.test_analyses import model as model
from tests.ingest.test_analyses import provider as provider
from tests.ingest.test_analyses import receiver as receiver
from tests.ingest.test_analyses import server as server
from tests.soak.conftest import Size
from tests.support.analyses import STAGES
from tests.support.receiver import Receiver
from tests.support.scripted_model import ScriptedModel
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak


def test_an_analysis_that_was_killed_at_each_stage_is_done_once(
    server: RunningServer, model: ScriptedModel, receiver: Receiver, size: Size
) -> None:
    assert_done_once_after_kills(server, model, receiver, *(stage for stage in STAGES for _ in range(size.kills)))
