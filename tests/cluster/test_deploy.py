"""The files of `deploy/`, the Dockerfile and compose.yaml name what there is: metrics, settings, commands, alerts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import takewhile
from pathlib import Path
from typing import get_args

import httpx2
import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from api.command_line import app
from api.proxies import trusted_proxies
from rag.server_version import LEAST_SERVER
from store import camera_streams, meters
from store.settings import WORK, Settings
from tests.support.npm_tools import NODE
from tests.support.server import RunningServer

ROOT = Path(__file__).parents[2]
LINTERS = Path(sys.prefix) / "linters"
DEPLOY, OPERATIONS = ROOT / "deploy", ROOT / "docs" / "operations.md"
ALERTS = yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
_METRIC = re.compile(r"\bparley_[a-z_]+[a-z]")
_SETTING = re.compile(r"\bPARLEY_([A-Z_]+[A-Z])")
_SERIES = re.compile(r"_(bucket|count|sum)$")
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')


def expressions() -> Iterator[str]:
    """Of the rules and of the dashboard."""
    yield from (rule["expr"] for rule in ALERTS)
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ()))


@pytest.fixture(scope="module")
def told(server: RunningServer) -> set[str]:
    """The metrics that a server tells of."""
    text = httpx2.get(server.url + "/metrics").text
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE parley_")}


def test_rules_and_dashboard_ask_for_metrics_that_there_are(told: set[str]) -> None:
    asked = {_SERIES.sub("", name) for each in expressions() for name in _METRIC.findall(each)}
    # Of filling an index that is being filled tells, of its passages the Qdrant server alone.
    assert asked - told <= {"parley_index_fill_done", "parley_index_fill_expected", "parley_index_points"}
    assert len(asked) > 15


def expression(alert: str) -> str:
    (found,) = [rule["expr"] for rule in ALERTS if rule["alert"] == alert]
    return str(found)


def selected(selector: str, page: str) -> list[dict[str, str]]:
    """Labels of the series on a page of metrics that a selector of PromQL chooses."""
    name, _, inside = selector.rstrip("}").partition("{")
    matchers = _MATCHER.findall(inside)
    samples = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
    return [each.labels for each in samples if each.name == name and all(_holds(each.labels, *m) for m in matchers)]


def _holds(labels: dict[str, str], label: str, operator: str, value: str) -> bool:
    equal = re.fullmatch(value if "~" in operator else re.escape(value), labels.get(label, "")) is not None
    return equal != operator.startswith("!")


def test_nobody_is_missed_who_has_a_gpu_or_watches_where_there_is_no_camera(server: RunningServer) -> None:
    """Each series that the rule's first part looks at is of work that has to be done; 0 of another is no alarm."""
    page = httpx2.get(server.url + "/metrics").text
    looked_at, watching = re.findall(r"parley_workers\{[^}]*\}", expression("ParleyNoWorker"))
    assert {labels["work"] for labels in selected("parley_workers", page)} == {*WORK, "gpu"}
    assert {labels["work"] for labels in selected(looked_at, page)} == set(WORK) - {"vision"}
    assert [labels["work"] for labels in selected(watching, page)] == ["vision"]


def test_what_the_server_did_not_come_to_do_is_neither_an_error_nor_work_that_errors_are_a_share_of() -> None:
    page = "".join(
        f'parley_work_ended_total{{kind="analysis",outcome="{each}"}} 1\n' for each in get_args(meters.Outcome)
    )
    errors, all_work = re.findall(r"parley_work_ended_total\{[^}]*\}", expression("ParleyWorkFails"))
    assert [labels["outcome"] for labels in selected(errors, page)] == ["error"]
    assert {labels["outcome"] for labels in selected(all_work, page)} == {"success", "error"}


def test_who_looks_for_cameras_sees_all_that_are_not_watched_and_a_share_of_all() -> None:
    page = "".join(f'parley_camera_streams{{status="{each}"}} 1\n' for each in get_args(camera_streams.State))
    away, of_all = re.findall(r"parley_camera_streams(?:\{[^}]*\})?", expression("ParleyCamerasOffline"))
    assert {labels["status"] for labels in selected(away, page)} == set(get_args(camera_streams.State)) - {"online"}
    assert {labels["status"] for labels in selected(of_all, page)} == set(get_args(camera_streams.State))


def test_processes_are_told_apart_by_the_roles_that_there_are() -> None:
    """By the name under which compose.yaml has them: the rule for a role that is gone goes by it."""
    (scraped,) = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))["scrape_configs"]
    (discovered,) = scraped["dns_sd_configs"]
    assert set(discovered["names"]) == {"api", "worker"} <= set(COMPOSE["services"])
    assert scraped["relabel_configs"] == [{"source_labels": ["__meta_dns_name"], "target_label": "role"}]
    assert "by (role)" in expression("ParleyDown")
    assert scraped["job_name"] in expression("ParleyDown")


def test_the_documentation_tells_of_every_metric(told: set[str]) -> None:
    page = OPERATIONS.read_text(encoding="utf-8")
    documented = set(_METRIC.findall(page))
    created = {name for name in told if name.endswith("_created")}
    assert {name for name in told - created if not name.startswith("parley_index_fill")} <= documented
    assert "parley_index_fill_*" in page


def test_it_says_what_to_do_for_each_alert() -> None:
    page = OPERATIONS.read_text(encoding="utf-8").partition("## Alerts")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (Parley\w+) \|", page, re.MULTILINE) == [rule["alert"] for rule in ALERTS]


def test_settings_are_named_as_they_are() -> None:
    texts = [ROOT / "Dockerfile", ROOT / "compose.yaml", *DEPLOY.glob("*.service")]
    named = {
        name for path in texts for name in re.findall(r"\bPARLEY_([A-Z_]+[A-Z])", path.read_text(encoding="utf-8"))
    }
    assert {name.lower() for name in named} - {"name"} <= set(Settings.model_fields)
    assert len(named) > 6


def commands() -> list[tuple[str, ...]]:
    files = [ROOT / "Dockerfile", *DEPLOY.glob("*.service")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    texts += [" ".join(map(str, service.get("command", ()))) for service in COMPOSE["services"].values()]
    found = [line for text in texts for line in re.findall(r"\bparley,? ((?:migrate|serve|models)[a-z -]*)", text)]
    return sorted({tuple(line.split()) for line in found})


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands_are_those_that_there_are(command: tuple[str, ...]) -> None:
    words = list(takewhile(lambda word: not word.startswith("--"), command))
    helped = CliRunner().invoke(app, [*words, "--help"])
    assert helped.exit_code == 0, helped.output
    assert all(word in helped.output for word in command if word.startswith("--")), helped.output


def test_every_service_of_compose_waits_for_what_is_there() -> None:
    services = COMPOSE["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / source).exists(), volume


def test_compose_has_a_qdrant_that_is_new_enough() -> None:
    image, _, tag = COMPOSE["services"]["qdrant"]["image"].partition(":")
    major, minor, _ = tag.removeprefix("v").split(".")
    assert image == "qdrant/qdrant"
    assert (int(major), int(minor)) >= LEAST_SERVER
    least = ".".join(map(str, LEAST_SERVER))
    assert f"Qdrant has to be {least} or newer" in OPERATIONS.read_text(encoding="utf-8")
    assert f"{least} or newer" in str(Settings.model_fields["qdrant_url"].description)


def test_no_variable_of_parley_env_is_overruled_without_a_word() -> None:
    """What `environment` sets wins over `parley.env`: it is either the installation's own, or read from `.env`."""
    page = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    begins = page.partition("services:")[0]
    fixed = {name for name, value in COMPOSE["x-parley"]["environment"].items() if "${" not in str(value)}
    assert not {name for name in fixed if name.startswith("PARLEY_")} - {"PARLEY_QDRANT_URL", "PARLEY_BLOB_URL"}
    defaults = re.findall(r"\$\{(\w+):-", begins)
    assert defaults
    assert all(re.search(rf"^#.*\b{name}\b", begins, re.MULTILINE) for name in defaults)


def test_the_proxy_of_compose_is_believed_in_every_network_that_docker_makes() -> None:
    """Of Docker's own address pools: 172.17 to 172.31, then 192.168 in parts."""
    set_to = COMPOSE["x-parley"]["environment"]["PARLEY_TRUSTED_PROXIES"]
    (default,) = re.findall(r"^\$\{PARLEY_TRUSTED_PROXIES:-(.*)\}$", set_to)
    believed = [IPv4Network(each) for each in trusted_proxies(default.split(",")) if ":" not in each]
    made = [IPv4Network(f"172.{number}.0.0/16") for number in range(17, 32)] + [IPv4Network("192.168.0.0/16")]
    assert all(any(each.subnet_of(network) for network in believed) for each in made)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
@pytest.mark.parametrize("name", ["parley.service", "parley-worker@.service"])
def test_systemd_understands_the_unit(tmp_path: Path, name: str) -> None:
    unit = (DEPLOY / name).read_text(encoding="utf-8")
    file = tmp_path / name.replace("@", "@01")
    file.write_text(unit.replace("/opt/parley/bin/parley", "/bin/true"), encoding="utf-8")
    checked = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


DCLINT = LINTERS / "npm" / "node_modules" / "dclint" / "bin" / "dclint.cjs"
PROMTOOL, CADDY, HADOLINT = (LINTERS / "bin" / name for name in ("promtool", "caddy", "hadolint"))


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([PROMTOOL, "check", "rules", "deploy/alerts.yaml"], id="the rules"),
        pytest.param([PROMTOOL, "test", "rules", "tests/cluster/alerts.test.yaml"], id="what the rules say"),
        pytest.param([PROMTOOL, "check", "config", "--syntax-only", "deploy/prometheus.yaml"], id="Prometheus"),
        pytest.param([CADDY, "validate", "--adapter", "caddyfile", "--config", "deploy/Caddyfile"], id="the proxy"),
        pytest.param([HADOLINT, "--failure-threshold", "info", "Dockerfile"], id="the Dockerfile"),
        # The proxy is for everybody.
        pytest.param(
            [NODE, DCLINT, "compose.yaml", "--quiet", "--disable-rule=no-unbound-port-interfaces"], id="compose.yaml"
        ),
    ],
)
def test_what_cannot_be_run_here_passes_its_linter(command: list[str | Path], tmp_path: Path) -> None:
    if not all(part.exists() for part in command if isinstance(part, Path)):
        pytest.skip("the linters are not installed (scripts/install-linters)")
    environment = {**os.environ, "DOMAIN": "talks.example", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    checked = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
