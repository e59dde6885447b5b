"""pytest plugin: the mark `proves`, and the contract's report at the end of a run."""

import pytest

from tests.contract.manifest import Requirement, cover, load, marks_under, table, totals

PROJECT_VERBOSITY = -1  # pyproject.toml gives one -q
PROPERTY = "proves"  # the name under which a report carries its test's ids, from xdist's workers too


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and the report."""
    config.addinivalue_line("markers", "proves(*ids): the contract's requirements that this test proves")
    config.pluginmanager.register(ContractReport(config, load()), "contract-report")


class ContractReport:
    """Checks the ids that tests name while they are collected, and prints the table when they have run."""

    def __init__(self, config: pytest.Config, requirements: tuple[Requirement, ...]) -> None:
        self.config = config
        self.requirements = requirements
        self.ran: dict[str, set[str]] = {"passed": set(), "failed": set(), "skipped": set()}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note each test's ids on its reports.

        Raises:
            pytest.UsageError: a mark names no id, or one that is not in the list.
        """
        known = {requirement.id for requirement in self.requirements}
        faults: list[str] = []
        for item in items:
            for mark in item.iter_markers("proves"):
                unknown = [identifier for identifier in mark.args if identifier not in known]
                if unknown or not mark.args or mark.kwargs:
                    faults.append(f"{item.nodeid} proves {unknown or 'nothing'}: no such requirement")
                item.user_properties.append((PROPERTY, " ".join(map(str, mark.args))))
        if faults:
            raise pytest.UsageError(*faults)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember by outcome what the tests were to prove; a test's set-up that passed is no outcome yet."""
        if report.passed and report.when != "call":
            return
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.ran[report.outcome].update(str(value).split())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a line an area and the totals; after one more -q than the project's own the totals alone."""
        coverage = cover(self.requirements, marks_under())
        if self.config.get_verbosity() < PROJECT_VERBOSITY:
            terminalreporter.write_line(totals(coverage))
        else:
            terminalreporter.section("contract")
            for line in table(coverage):
                terminalreporter.write_line(line)
        if coverage.reopened:
            names = ", ".join(requirement.id for requirement in coverage.reopened)
            terminalreporter.write_line(f"tested, so the mark 'open' can go: {names}")
        failed, passed = self.ran["failed"], self.ran["passed"]
        if failed:
            terminalreporter.write_line(f"not proven in this run, a test failed: {', '.join(sorted(failed))}")
        if skipped := self.ran["skipped"] - failed - passed:
            terminalreporter.write_line(f"not proven in this run, all skipped: {', '.join(sorted(skipped))}")
