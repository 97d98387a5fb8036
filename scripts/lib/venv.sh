# shellcheck shell=bash
# Sourced by the scripts beside it: makes .venv from requirements.lock, once.
#
# aml_venv        make .venv, or return at once if it is up to date; puts it on PATH
#
# The environment's own settings of pip and uv (indexes, certificates, caches) are honoured.
# PYTHON names the interpreter to use, if the ones tried here are not right.

aml_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
aml_bin="$aml_root/.venv/bin"
aml_stamp_file="$aml_root/.venv/.aml-stamp"

aml_say() { printf '%s\n' "$*" >&2; }

aml_die() {
  printf 'error: %s\n' "$*" >&2
  exit 3
}

# Changes when the locked packages, the project's metadata, this file or the place change.
aml_stamp() {
  (cd "$aml_root" && cksum pyproject.toml requirements.lock scripts/lib/venv.sh && pwd -P)
}

aml_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  aml_die "no Python 3.11 or newer was found; install one, or name it: PYTHON=/path/to/python $0"
}

# uv reads other names than pip for the same settings: where only pip's are given, they count.
aml_uv_settings() {
  if [ -n "${PIP_INDEX_URL:-}" ] && [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
    export UV_DEFAULT_INDEX="$PIP_INDEX_URL"
  fi
  if [ -n "${PIP_EXTRA_INDEX_URL:-}" ] && [ -z "${UV_INDEX:-}${UV_EXTRA_INDEX_URL:-}" ]; then
    export UV_INDEX="$PIP_EXTRA_INDEX_URL"
  fi
  if [ -n "${PIP_CERT:-}" ] && [ -z "${SSL_CERT_FILE:-}" ]; then
    export SSL_CERT_FILE="$PIP_CERT"
  fi
}

# The lines of requirements.lock that pin one package and its hashes.
aml_locked() {
  awk -v name="$1" '
    $0 !~ /^[ #]/ { on = index($0, name "==") == 1 }
    on && $0 !~ /^ *#/ { print }
  ' "$aml_root/requirements.lock"
}

aml_install() {
  local locked_uv="$aml_root/.venv/locked-uv.txt"
  aml_locked uv >"$locked_uv"
  "$aml_bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --require-hashes -r "$locked_uv" ||
    aml_die "pip could not install uv; is the package index reachable? (pip's message is above)"
  aml_uv_settings
  # uv takes seconds where pip takes a minute. If uv cannot reach what pip can, pip does it.
  "$aml_bin/uv" pip sync --quiet --python "$aml_bin/python" --require-hashes \
    "$aml_root/requirements.lock" || {
    aml_say "uv could not install the packages; pip tries, which takes about a minute"
    "$aml_bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
      --require-hashes -r "$aml_root/requirements.lock"
  } || aml_die "the packages of requirements.lock could not be installed (messages above)"
  "$aml_bin/python" -m uv pip install --quiet --python "$aml_bin/python" --offline \
    --no-deps --no-build-isolation --editable "$aml_root" ||
    aml_die "the project itself could not be installed (messages above)"
}

aml_venv() {
  export PATH="$aml_bin:$PATH" VIRTUAL_ENV="$aml_root/.venv"
  if [ -f "$aml_stamp_file" ] && [ "$(cat "$aml_stamp_file")" = "$(aml_stamp)" ]; then
    return
  fi
  local python
  if ! "$aml_bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    ! "$aml_bin/python" -m pip --version >/dev/null 2>&1; then
    python="$(aml_python)"
    aml_say "Making .venv with $("$python" --version)"
    "$python" -m venv --clear "$aml_root/.venv" ||
      aml_die "$python cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv"
  fi
  rm -f "$aml_stamp_file"
  aml_say "Installing the packages of requirements.lock (the first time only)"
  aml_install
  aml_stamp >"$aml_stamp_file"
}
