# Steps of a tier, for scripts that source this: what each took, printed at the end; a step that grew by a fifth over
# tests/step_seconds.tsv (two cores of the machine in results/speed.md) says so.
#
#   tier=quick; . tests/steps.sh; step "name"; ...; step "another"; ...
#
# A step may be left out, and its commands may fail without ending the script, which then fails at its end:
#
#   chosen=("$@"); if step "name"; then attempt command; fi
#
# Steps that passed are kept by tree (build/passed_steps.tsv) where nothing in it is changed; with resume=1 those of this
# tree are not run again.
# shellcheck shell=bash
step_names=()
step_starts=()
step_failed=()  # names of steps
step_before=()  # seconds that it took when it passed before, empty where it has run now
chosen=()       # parts of names: steps that have none of them are left out
resume=0
steps_passed=build/passed_steps.tsv
steps_tree=$(git rev-parse 'HEAD^{tree}' 2>/dev/null && git diff --quiet HEAD 2>/dev/null) || steps_tree=""

step() {
  local part wanted=$((${#chosen[@]} == 0))
  for part in "${chosen[@]}"; do [[ $1 == *"$part"* ]] && wanted=1; done
  [ "$wanted" -eq 1 ] || return 1
  keep_step
  step_names+=("$1")
  step_starts+=("$SECONDS")
  step_before+=("")
  if [ "$resume" -eq 1 ] && [ -n "$steps_tree" ] && [ -e "$steps_passed" ]; then
    step_before[-1]=$(awk -F'\t' -v key="$steps_tree $tier" -v name="$1" '$1 == key && $2 == name { took = $3 } END { print took }' "$steps_passed")
    if [ -n "${step_before[-1]}" ]; then
      printf '\n==== %s: passed before, in %s s\n' "$1" "${step_before[-1]}"
      return 1
    fi
  fi
  printf '\n==== %s (%s s)\n' "$1" "$SECONDS"
}

attempt() {
  local status=0
  "$@" || status=$?
  [ "$status" -lt 129 ] || exit "$status"  # stopped by a signal
  [ "$status" -eq 0 ] && return
  printf '==== FAILED, exit code %s: %s\n' "$status" "$*"
  local failed
  for failed in "${step_failed[@]}"; do [ "$failed" = "${step_names[-1]}" ] && return; done
  step_failed+=("${step_names[-1]}")
}

# Notes that the step that ends here has passed.
keep_step() {
  local failed
  [ "${#step_names[@]}" -gt 0 ] && [ -n "$steps_tree" ] && [ -z "${step_before[-1]}" ] || return 0
  for failed in "${step_failed[@]}"; do [ "$failed" = "${step_names[-1]}" ] && return; done
  mkdir -p "$(dirname "$steps_passed")"
  printf '%s\t%s\t%s\n' "$steps_tree $tier" "${step_names[-1]}" "$((SECONDS - step_starts[-1]))" >>"$steps_passed"
}

# What a script says when it ends, however it does.
steps_report() {
  local status=$? count=${#step_names[@]} i name took usual failed
  if [ "$count" -eq 0 ]; then
    [ "${#chosen[@]}" -eq 0 ] || printf 'no step is called: %s\n' "${chosen[*]}"
    exit $((status > 0 ? status : ${#chosen[@]} > 0))
  fi
  [ "$status" -ne 0 ] || keep_step
  step_starts+=("$SECONDS")
  printf '\n%8s  %s\n' seconds step
  for ((i = 0; i < count; ++i)); do
    name=${step_names[i]}
    took=$((step_starts[i + 1] - step_starts[i]))
    usual=$(awk -F'\t' -v tier="$tier" -v name="$name" '$1 == tier && $2 == name { print $3 }' tests/step_seconds.tsv)
    printf '%8s  %s' "$took" "$name"
    if [ -n "$usual" ] && [ $((took * 5)) -gt $((usual * 6)) ] && [ $((took - usual)) -gt 10 ]; then
      printf ' -- GREW: %s s usually' "$usual"
    fi
    for failed in "${step_failed[@]}"; do [ "$failed" = "$name" ] && printf ' -- FAILED' && break; done
    [ -z "${step_before[i]}" ] || printf ' -- passed before on this tree, in %s s' "${step_before[i]}"
    printf '\n'
  done
  [ "${#chosen[@]}" -eq 0 ] && printf '%8s  all of the %s tier' "$SECONDS" "$tier" ||
    printf '%8s  steps of the %s tier named %s' "$SECONDS" "$tier" "${chosen[*]}"
  if [ "$status" -ne 0 ]; then
    printf ': FAILED in %s\n' "${step_names[count - 1]}"
    exit "$status"
  fi
  if [ "${#step_failed[@]}" -eq 0 ]; then printf ': passed\n'; exit 0; fi
  printf ': FAILED in %s step%s\n' "${#step_failed[@]}" "$([ "${#step_failed[@]}" -eq 1 ] || printf s)"
  exit 1
}
trap steps_report EXIT
trap "exit 130" INT  # a script that is stopped has not passed
trap "exit 143" TERM
