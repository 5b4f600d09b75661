# shellcheck shell=bash
# What the steps of action.yml read from their environment. To be sourced.

# The words of an input, one a line: its lines when there are several, so that a path may hold spaces, else
# what stands between spaces. Nothing in them is run or expanded.
words() { # text
  local text=${1%$'\n'} line word list
  if [[ $text == *$'\n'* ]]; then
    while IFS= read -r line; do
      read -r word <<<"$line"
      [ -z "$word" ] || printf '%s\n' "$word"
    done <<<"$text"
  else
    read -r -a list <<<"$text"
    for word in "${list[@]}"; do printf '%s\n' "$word"; done
  fi
}

# Goes to the checkout, and fills what each step has: `paths`, `args`, `target`, and a folder `scratch`.
# shellcheck disable=SC2034 # those who source this read them
begin() {
  local word
  while IFS= read -r word; do paths+=("$word"); done < <(words "${INPUT_PATHS:-}")
  while IFS= read -r word; do args+=("$word"); done < <(words "${INPUT_ARGS:-}")
  [ -z "${INPUT_TARGET:-}" ] || target=(--target "$INPUT_TARGET")
  cd "${GITHUB_WORKSPACE:-.}" || exit
  scratch=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
}

# An output of the step.
output() { # name, value
  printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/null}"
}

# Text for the page of the run.
summary() {
  cat >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
}

# A value of the event, or nothing.
event() { # jq filter
  if [ -n "${GITHUB_EVENT_PATH:-}" ] && [ -r "$GITHUB_EVENT_PATH" ]; then
    jq -r "$1 // empty" "$GITHUB_EVENT_PATH"
  fi
}
