"""`parley models`: what there is, getting it, checking it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.console import JsonOption, QuietOption, print_rows
from store.errors import InvalidRequest
from store.settings import load_settings

if TYPE_CHECKING:
    from store.weights import Progress

models_app = typer.Typer(help="Model files.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(models_app, name="models")


@models_app.command("list")
def list_models(as_json: JsonOption = False) -> None:
    """Lists every model that Parley knows, with its licence and whether it is installed."""
    from store import weights

    settings = load_settings()
    rows = [
        {
            "name": model.name,
            "megabytes": round(model.sources[0].size / 1e6, 1),
            "default": model.default,
            "installed": weights.find(settings, model.name) is not None,
            "licence": model.licence,
            "purpose": model.purpose,
        }
        for model in weights.catalog()
    ]
    rows += [
        {
            "name": model.name,
            "megabytes": round(model.size / 1e6, 1),
            "default": False,
            "installed": model.is_installed(settings),
            "licence": model.licence,
            "purpose": f"{model.purpose}; your own file in PARLEY_MODELS_DIR",
        }
        for model in weights.own_files()
    ]
    print_rows(rows, as_json)


@models_app.command("pull")
def pull_models(
    names: Annotated[list[str] | None, typer.Argument(help="Without names: the default ones.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fetches model files into the cache; what is there is not fetched again."""
    from store import weights

    settings = load_settings()
    unknown = set(names or ()) - {model.name for model in weights.catalog()}
    if unknown:
        raise InvalidRequest(f"no such model: {', '.join(sorted(unknown))} (see `parley models list`)")
    results = weights.pull(settings, names or (), None if as_json else _progress())
    rows = [
        {"name": result.name, "state": result.state, "source": result.source, "problem": result.problem}
        for result in results
    ]
    if quiet:
        rows = [row for row in rows if row["problem"]]
    if rows or not quiet:
        print_rows(rows, as_json)
    raise typer.Exit(1 if any(result.state == "failed" for result in results) else 0)


@models_app.command("verify")
def verify_models(as_json: JsonOption = False) -> None:
    """Reads every installed model file again and compares its sha256."""
    from store import weights

    results = weights.verify(load_settings())
    print_rows(
        [{"name": found.name, "path": found.path, "problem": found.problem or "none"} for found in results], as_json
    )
    raise typer.Exit(1 if any(found.problem for found in results) else 0)


def _progress() -> Progress:
    """A line on stderr that grows with the download, on a terminal; a line a model elsewhere."""
    import sys

    shown: dict[str, int] = {}

    def show(name: str, done: int, total: int) -> None:
        percent = 100 * done // max(total, 1)
        step = 1 if sys.stderr.isatty() else 25
        if percent // step > shown.get(name, -1) // step or name not in shown:
            shown[name] = percent
            end = "\r" if sys.stderr.isatty() and percent < 100 else "\n"
            sys.stderr.write(f"  {name}: {percent} % of {total / 1e6:.0f} MB{end}")
            sys.stderr.flush()

    return show
