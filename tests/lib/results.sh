# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # names
# Counts result lines: `ok NAME`, `not ok NAME: reason`, `skip NAME: reason`. The caller's `names` are
# the tests asked for; empty: all.
passed=0 failed=0 skipped=0
declare -A found_names=() counted=()
failures=()       # `NAME: reason` of what failed, in its order
AGAIN_MAX=10      # tests that are run again: where more have failed, that is no chance
AGAIN_SECONDS=600 # that all of them may take then

# Counts one line and prints it. A "not ok" counts anywhere in it: two lines may be joined into one.
note() {
	case $1 in
	"# "*) ;;
	*"not ok "*)
		failed=$((failed + 1))
		failures+=("${1#*not ok }")
		;;
	"ok "*) passed=$((passed + 1)) ;;
	"skip "*) skipped=$((skipped + 1)) ;;
	esac
	note_name "$1"
	printf '%s\n' "$1"
}

note_name() {
	local name pattern=${1#*ok }
	case $1 in "ok "* | "not ok "* | "skip "*) ;; *) return 0 ;; esac
	pattern=${pattern#skip } pattern=${pattern%%:*} pattern=${pattern%%  #*}
	counted[$pattern]=yes
	for name in ${names[@]+"${names[@]}"}; do
		# shellcheck disable=SC2053
		if [[ $pattern == $name* ]]; then
			found_names[$name]=yes
		fi
	done
}

# Is a test of this name, or of names that begin with it, asked for?
wanted() {
	[ ${#names[@]} -gt 0 ] || return 0
	local name
	for name in "${names[@]}"; do
		# shellcheck disable=SC2053
		[[ $1 == $name* || $name == $1* ]] && return 0
	done
	return 1
}

# lines NAME COMMAND...: runs a command that prints the results of many tests
lines() {
	local name=$1 failed_before=$failed before=$((passed + failed + skipped)) status=none line
	shift
	wanted "$name" || return 0
	while IFS= read -r line; do
		case $line in
		"exit status of all: "*) status=${line##* } ;;
		'') ;;
		*) note "$line" ;;
		esac
	done < <(
		"$@" 2>&1
		printf '\nexit status of all: %s\n' "$?"
	)
	if [ "$status" != 0 ] && [ "$failed" = "$failed_before" ]; then
		note "not ok $name: exit status $status"
	elif [ $((passed + failed + skipped)) = "$before" ]; then
		note "not ok $name: no test has run"
	fi
}

# again COMMAND...: each test that has failed is run once more. COMMAND SECONDS NAME runs it alone, prints
# its results, and fails if it does, or if it is nothing that chance could make fail. A test that passes
# now is flaky, and has passed.
again() {
	local failure end=$((SECONDS + AGAIN_SECONDS))
	if [ ${#failures[@]} -gt $AGAIN_MAX ]; then
		echo "# more than $AGAIN_MAX have failed: none is run again"
		return
	fi
	for failure in ${failures[@]+"${failures[@]}"}; do
		[ $SECONDS -lt $end ] && again_one "$failure" "$@" $((end - SECONDS)) "${failure%%:*}" && echo "flaky $failure"
	done
}

# again_one FAILURE COMMAND...: has it passed now? Cases that a crash had cut off have as well.
again_one() {
	local name=${1%%:*} status=0 before=$passed said line
	shift
	said=$("$@" 2>&1) || status=$?
	[ -z "$said" ] || printf '# again: %s\n' "${said//$'\n'/$'\n'# again: }"
	[ $status = 0 ] || return
	while IFS= read -r line; do
		case $line in "ok "*) ;; *) continue ;; esac
		line=${line#ok } line=${line%%  #*}
		if [ "$line" = "$name" ] || [ -z "${counted[$line]-}" ]; then
			passed=$((passed + 1))
		fi
	done <<<"$said"
	[ $passed -gt "$before" ] && failed=$((failed - 1))
}

# took FILE: prints how long this script has run, and how much of a processor it and what it has started used
took() {
	times >"$1" # not in a subshell, which has used nothing yet: two lines of `0m1.234s 0m0.567s`
	awk -F '[ms ]+' -v seconds=$SECONDS '{ used += ($1 + $3) * 60 + $2 + $4 }
		END { printf "# took %.1f minutes, %.1f of a processor\n", seconds / 60, used / 60 }' "$1"
}

# Prints `N passed, M failed`. Fails where a test has, where none has run, and where a name was asked
# for that no test has.
summary() {
	local name
	for name in ${names[@]+"${names[@]}"}; do
		[ -n "${found_names[$name]-}" ] || note "not ok $name: no test is called so"
	done
	[ $((passed + failed + skipped)) -gt 0 ] || note "not ok all: no test has run"
	if [ $skipped -gt 0 ]; then
		echo "$passed passed, $failed failed, $skipped skipped"
	else
		echo "$passed passed, $failed failed"
	fi
	[ "$failed" = 0 ]
}
