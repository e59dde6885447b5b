# The project's commands. `make run` and `make test` are all that a newcomer needs.
SHELL := bash
.DEFAULT_GOAL := help

SOAK ?= full
# PORT= is honoured; without it PARLEY_PORT, or a .env file, or the default.
ifdef PORT
export PARLEY_PORT := $(PORT)
endif

BIN := .venv/bin
WEB_SOURCES := $(shell find ui docs/openapi ingest/analysis/key_labels.json -type f -not -path '*/node_modules/*' -not -path 'ui/dist/*' \
  -not -path 'ui/cabinet/api/schema/*' 2>/dev/null)

.PHONY: help run web test check bench soak docs screenshots clean

help: ## says what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: ## installs, fetches models, loads the demo company and serves on PORT (8080); DEMO=small for fewer recordings
	@scripts/set-up run
	@$(MAKE) --no-print-directory web
	@$(BIN)/parley models pull --quiet || echo "Some model files are missing: what needs them says so (parley doctor)."
	@$(BIN)/parley migrate --quiet
	@$(BIN)/parley demo --quiet $(if $(filter small,$(DEMO)),--small)
	@exec $(BIN)/parley serve

web: ui/dist/demo.html ## builds the web part

ui/dist/demo.html: $(WEB_SOURCES)
	@scripts/build-web

test: ## runs every test
	@scripts/set-up dev
	@$(MAKE) --no-print-directory web
	@$(BIN)/parley models pull --quiet || echo "Some model files are missing: the tests that need them are skipped."
	@$(BIN)/parley models pull --quiet all-minilm-l6-v2 ssd-mobilenet-v2-coco || true
	@scripts/install-mcp-tools || echo "The MCP tools of npm are missing: the tests that need them are skipped."
	@scripts/install-linters || echo "The linters of what is deployed are missing: the tests that need them are skipped."
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --timeout 600 --timeout-method thread

check: ## format, lint, types, import layers, OpenAPI drift, web part
	@scripts/set-up dev
	@scripts/check

docs: ## writes docs/openapi/*.json and docs/settings.md from the code
	@$(BIN)/python scripts/write-docs

screenshots: ## takes the pictures of docs/screenshots; PAGES="ask overview" for some of them
	@$(MAKE) --no-print-directory web
	@$(BIN)/python scripts/take-screenshots $(PAGES)

bench: ## measures, as tables
	@scripts/set-up dev
	@$(BIN)/python -m bench

soak: ## kills, races and fuzzing; SOAK=small for a short run
	@scripts/set-up dev
	@SOAK=$(SOAK) $(BIN)/pytest $(if $(filter small,$(SOAK)),tests/soak -n 2 --dist loadfile --timeout 1200 --timeout-method thread,tests) -m soak

clean: ## removes what was installed and built; keeps data
	rm -rf .venv ui/node_modules ui/dist
