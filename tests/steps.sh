# Steps of a tier, for scripts that source this: what each took, printed at the end; a step that grew by a fifth over
# tests/step_seconds.tsv (two cores of the machine in README) says so.
#
#   tier=quick; . tests/steps.sh; step "name"; ...; step "another"; ...; steps_done
# shellcheck shell=bash
step_names=()
step_starts=()

step() {
  step_names+=("$1")
  step_starts+=("$SECONDS")
  printf '\n==== %s (%s s)\n' "$1" "$SECONDS"
}

# What a script says when it ends, however it does.
steps_report() {
  local status=$? count=${#step_names[@]} i name took usual
  [ "$count" -gt 0 ] || return "$status"
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
    printf '\n'
  done
  printf '%8s  all of the %s tier' "$SECONDS" "$tier"
  [ "$status" -eq 0 ] && printf ': passed\n' || printf ': FAILED in %s\n' "${step_names[count - 1]}"
  return "$status"
}
trap steps_report EXIT
trap "exit 130" INT  # a script that is stopped has not passed
trap "exit 143" TERM
