# Every target is a subcommand of dev.py, which also runs where there is no make.

# The first Python here that is new enough; `make setup PYTHON=...` overrules it. If there is
# none, dev.py says what is missing.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; \
	done; echo python3)

TARGETS := setup demo test soak lint lock wheel-test clean
.PHONY: $(TARGETS)
$(TARGETS):
	@$(PYTHON) dev.py $@
