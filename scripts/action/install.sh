#!/usr/bin/env bash
# Installs the wheel of INPUT_VERSION into a folder of this job and puts it into PATH; with no version the
# program that is in PATH stays.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/inputs.sh"

scratch=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
if [ -n "${INPUT_VERSION:-}" ]; then
  python3 -m venv "$scratch/tplkit"
  "$scratch/tplkit/bin/pip" install --quiet --disable-pip-version-check "tplkit==$INPUT_VERSION"
  PATH=$scratch/tplkit/bin:$PATH
  printf '%s\n' "$scratch/tplkit/bin" >>"${GITHUB_PATH:-/dev/null}"
elif ! command -v tplkit >/dev/null; then
  echo '::error title=tplkit::There is no tplkit in PATH: install it in an earlier step, or name a version.'
  exit 2
fi
tplkit --version
