"""The list of requirements is sound, and every requirement that stands has a test."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.contract import manifest
from tests.contract.manifest import Mark, Requirement

pytest_plugins = ["pytester"]

SPEC = Path(__file__).resolve().parents[2].parent / "shared" / "spec"
needs_spec = pytest.mark.skipif(not SPEC.is_dir(), reason="the contract's documents are not beside this checkout")
LONGEST_COMMON_RUN = 7  # words in a row that a paraphrase may share with a document: lists of values need some


@pytest.fixture(scope="module")
def requirements() -> tuple[Requirement, ...]:
    return manifest.load()


@pytest.fixture(scope="module")
def marks() -> tuple[Mark, ...]:
    return manifest.marks_under()


def test_each_id_is_given_once(requirements: tuple[Requirement, ...]) -> None:
    assert requirements
    assert [name for name, count in Counter(r.id for r in requirements).items() if count > 1] == []


def test_ids_are_dotted_kebab_case_and_begin_with_their_files_area(requirements: tuple[Requirement, ...]) -> None:
    assert [r.id for r in requirements if not manifest.ID_FORM.fullmatch(r.id)] == []
    assert [r.id for r in requirements if not f"{r.file}_".startswith(f"{r.area.replace('-', '_')}_")] == []


def test_paraphrases_are_short_and_not_empty(requirements: tuple[Requirement, ...]) -> None:
    assert [r.id for r in requirements if not 0 < len(r.says.strip()) <= manifest.LONGEST_PARAPHRASE] == []


def test_sources_name_a_document_and_a_place_in_it(requirements: tuple[Requirement, ...]) -> None:
    assert [r.id for r in requirements if r.document not in manifest.DOCUMENTS or ", " not in r.source] == []


@needs_spec
def test_the_place_of_a_source_is_a_heading_of_its_document(requirements: tuple[Requirement, ...]) -> None:
    for document in manifest.DOCUMENTS:
        text = (SPEC / f"{document}.md").read_text(encoding="utf-8")
        headings = tuple(re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE))
        places = {r.source.split(", ")[1] for r in requirements if r.document == document}
        assert [place for place in sorted(places) if not any(head.startswith(place) for head in headings)] == []


@needs_spec
def test_paraphrases_do_not_quote_the_documents(requirements: tuple[Requirement, ...]) -> None:
    text = " ".join(" ".join(_words((SPEC / f"{name}.md").read_text(encoding="utf-8"))) for name in manifest.DOCUMENTS)
    quoting = []
    for requirement in requirements:
        words = _words(requirement.says)
        runs = (words[at : at + LONGEST_COMMON_RUN + 1] for at in range(len(words) - LONGEST_COMMON_RUN))
        quoting += [(requirement.id, " ".join(run)) for run in runs if f" {' '.join(run)} " in text]
    assert quoting == []


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_open_names_a_layer(requirements: tuple[Requirement, ...]) -> None:
    assert [r.id for r in requirements if r.open is not None and r.open not in manifest.LAYERS] == []


def test_marks_name_requirements_that_exist(requirements: tuple[Requirement, ...], marks: tuple[Mark, ...]) -> None:
    known = {r.id for r in requirements}
    assert [(mark.where, name) for mark in marks for name in mark.ids if name not in known] == []


def test_marks_are_literal_and_stand_on_tests_that_run(marks: tuple[Mark, ...]) -> None:
    assert [f"{mark.where} {mark.fault}" for mark in marks if mark.fault] == []


def test_every_requirement_that_is_not_open_has_a_test(
    requirements: tuple[Requirement, ...], marks: tuple[Mark, ...]
) -> None:
    missing = manifest.cover(requirements, marks).missing
    if missing:
        pytest.fail("\n".join(manifest.listing(f"{len(missing)} requirements without a test:", missing)), pytrace=False)


def test_marks_are_found_on_tests_classes_parameters_and_modules(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.proves('a.module')\n"
        "@pytest.mark.proves('a.one', 'a.two')\n"
        "async def test_function(): ...\n"
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.proves('a.parameter'))])\n"
        "def test_table(x): ...\n"
        "@pytest.mark.proves('a.class')\n"
        "class TestRoom: ...\n",
        encoding="utf-8",
    )
    (tmp_path / "helper.py").write_text("import pytest\npytest.mark.proves('a.helper')\n", encoding="utf-8")

    found = manifest.marks_under(tmp_path)

    assert {name for mark in found for name in mark.ids} == {"a.module", "a.one", "a.two", "a.parameter", "a.class"}
    assert [mark.fault for mark in found] == [None] * 4


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.proves(NAME)\ndef test_it(): ...",
        "@pytest.mark.proves()\ndef test_it(): ...",
        "@pytest.mark.proves('a.one')\ndef helper(): ...",
        "@pytest.mark.skip\n@pytest.mark.proves('a.one')\ndef test_it(): ...",
        "@pytest.mark.proves('a.one')\n@pytest.mark.xfail(reason='later')\ndef test_it(): ...",
        "@pytest.mark.skip\nclass TestRoom:\n    @pytest.mark.proves('a.one')\n    def test_it(self): ...",
    ],
)
def test_a_mark_that_cannot_prove_is_a_fault_and_does_not_count(tmp_path: Path, source: str) -> None:
    (tmp_path / "test_sample.py").write_text(f"import pytest\n{source}\n", encoding="utf-8")
    requirement = Requirement("a.one", "says", "decisions, Speech", None, "a")

    found = manifest.marks_under(tmp_path)

    assert [mark.fault is None for mark in found] == [False]
    assert manifest.cover([requirement], found).missing == (requirement,)


def test_coverage_sorts_requirements_into_four_parts_that_are_all() -> None:
    one, two, three, four = (
        Requirement(f"a.{name}", "says", "decisions, Speech", layer, "a")
        for name, layer in (("one", None), ("two", "speech"), ("three", None), ("four", "vision"))
    )

    coverage = manifest.cover([one, two, three, four], [Mark("test_x.py:1", ("a.one", "a.two"), None)])

    assert coverage == manifest.Coverage((one,), (two,), (three,), (four,))
    assert manifest.totals(coverage) == "contract: 4 requirements, 2 with a test, 1 without, 1 open"
    assert manifest.table(coverage)[1].split() == ["a", "4", "2", "1", "1"]
    assert manifest.table(coverage)[-1] == "open by layer: vision 1"


def test_a_speed_is_shown_by_its_bench() -> None:
    requirement = Requirement("a.one", "says", "decisions, Speech", None, "a", "vision")
    assert manifest.cover([requirement], []).tested == (requirement,)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "title = 'x'\n[[requirement]]\nid = 'a.b'\nsays = 'x'\nsource = 'y'\n",
        "[[requirement]]\nid = 'a.b'\nsays = 'x'\n",
        "[[requirement]]\nid = 'a.b'\nsays = 'x'\nsource = 'y'\nopened = 'speech'\n",
        "[[requirement]]\nid = 'a.b'\nsays = 1\nsource = 'y'\n",
        "[[requirement]]\nid = 'a.b'\nsays = 'x'\nsource = 'y'\nbench = 'none'\n",
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.toml").write_text(content, encoding="utf-8")
    with pytest.raises(manifest.ManifestError, match=r"a\.toml"):
        manifest.load(tmp_path)


def test_collection_stops_at_a_mark_that_names_no_requirement(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.proves('no.such-thing')\ndef test_it(): ...")
    result = pytester.runpytest("-p", "tests.contract.plugin")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_it proves*no.such-thing*no such requirement*"])


def test_the_report_names_what_failed_and_skipped_tests_were_to_prove(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.mark.proves('addresses.healthz')\ndef test_failing(): assert False\n"
        "@pytest.mark.proves('addresses.readyz', 'addresses.mcp')\ndef test_skipped(): pytest.skip('no models')\n"
        "@pytest.mark.proves('addresses.mcp')\ndef test_passing(): assert True\n"
    )
    result = pytester.runpytest("-p", "tests.contract.plugin", "--strict-markers")
    result.assert_outcomes(failed=1, skipped=1, passed=1)
    result.stdout.fnmatch_lines(["*contract*", "area *", "speech *", "all *"])
    result.stdout.fnmatch_lines(["*a test failed: addresses.healthz", "*all skipped: addresses.readyz"])
