# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # names
# What tests/kernels and tests/kernels-arm64 share: Debian's kernels, and the tests' results.
# $machine: Debian's name of the machine; $kernels: a folder for kernels; $work: a temporary one;
# ${features[@]}: what run_all() tells of.

# the Debian archive that this machine's apt takes its own main component from
archive() {
	# apt puts the names in
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk '$3 == "main" && $2 !~ /security|updates|backports/ { print $1; exit }'
}

# suite_of VERSION, package_of VERSION: where a kernel is, and the beginning of its package's name
suite_of() {
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	7) echo trixie-backports ;;
	*)
		echo "kernels: no suite known for Linux $1" >&2
		return 1
		;;
	esac
}

package_of() {
	case $1 in
	7) echo linux-binary-unsigned-7 ;; # from 7 on the image has a package of its own
	*) echo "linux-image-$1" ;;
	esac
}

# private_apt COMMAND ARGUMENT...: with lists, cache and sources of its own below $work
private_apt() {
	local command=$1
	shift
	"$command" -qq -o Dir::State="$work/state" -o Dir::Cache="$work/cache" \
		-o APT::Architecture="$machine" \
		-o Dir::State::status="$work/status" -o Dir::Etc::SourceList="$work/list" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null \
		-o Dir::Etc::PreferencesParts=/dev/null -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=3 \
		-o Acquire::Check-Valid-Until=false "$@"
}

# private_lists SUITE: what private_apt knows from now on
private_lists() {
	rm -rf "$work/state" "$work/cache" "$work/debs" "$work/root"
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs"
	: >"$work/status"
	echo "deb [arch=$machine signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(archive) $1 main" \
		>"$work/list"
	private_apt apt-get update >&2
}

# fetch VERSION: the newest cloud kernel of the suite becomes $kernels/VERSION/vmlinuz
fetch() {
	local suite package
	suite=$(suite_of "$1")
	private_lists "$suite"
	package=$(private_apt apt-cache search --names-only "^$(package_of "$1")[.].*-cloud-$machine" |
		awk '{ print $1 }' | grep -v -- -dbg | sort -V | tail -n 1)
	(cd "$work/debs" && private_apt apt-get download "$package" >&2)
	dpkg -x "$work"/debs/*.deb "$work/root"
	mkdir -p "$kernels/$1"
	find "$work/root" -type f -name 'vmlinuz*' -exec mv {} "$kernels/$1/vmlinuz" \;
	[ -s "$kernels/$1/vmlinuz" ]
}

# Names the kernel in each line of the results. The status is $NOT_BOOTED if the machine did not get
# as far as to the tests.
NOT_BOOTED=3
results() {
	local line ended='' ran=0 booted=''
	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in "booted "*) booted=yes ;; esac
		case $line in
		*"not ok "*) echo "not ok $1/${line#*not ok }" ;;
		"ok "*) echo "ok $1/${line#ok }" ;;
		"skip "*) echo "skip $1/${line#skip }" ;;
		"done 0") ended=well ;;
		"done "*) ended=badly ;;
		*) echo "# $1: $line" ;;
		esac
		case $line in *"ok "* | "skip "*) ran=$((ran + 1)) ;; esac
	done
	[ -n "$booted" ] || return "$NOT_BOOTED"
	[ -n "$ended" ] || echo "not ok $1/end: the machine stopped before the tests had ended"
	[ "$ran" -gt 0 ] || echo "not ok $1/all: no test has run"
	[ "$ended" = well ] && [ "$ran" -gt 0 ]
}

# Of one feature: its column for each kernel, "3" where all passed
columns() { # FEATURE VERSION...
	local feature=$1 version name all good
	shift
	for version; do
		all=0 good=0
		# shellcheck disable=SC2013 # words
		for name in ${feature#*: }; do
			all=$((all + $(grep -cE "^(not ok|ok|skip) $version/${name%/}(/|:| |\$)" "$work/all" || true)))
			good=$((good + $(grep -cE "^ok $version/${name%/}(/| |\$)" "$work/all" || true)))
		done
		[ "$good" = "$all" ] && printf ' | %s' "$good" || printf ' | %s of %s' "$good" "$all"
	done
}

table() { # VERSION...
	local feature columns
	echo "# | tests that passed, on Linux$(printf ' | %s' "$@") |"
	echo "# |---$(printf '|%.0s---' "$@")|"
	for feature in "${features[@]}"; do
		columns=$(columns "$feature" "$@")
		[[ $columns =~ [1-9] ]] && echo "# | ${feature%%:*}$columns |"
	done
}

# On a busy machine the emulator may break a kernel that boots (Debian 12's qemu, Linux 6.12): that is
# tried again, and nothing else is.
run_one() {
	local attempt status
	for attempt in 1 2 3; do
		boot "${1##*/}" | results "$1" | tee -a "$work/all" && return
		status=${PIPESTATUS[1]}
		[ "$status" = "$NOT_BOOTED" ] || return "$status"
		echo "# $1: the machine did not boot (attempt $attempt)"
	done
	echo "not ok $1/end: the machine does not boot" | tee -a "$work/all"
	return 1
}

# run_all VERSION...: boots each, with boot(), and prints results and, by ${features[@]}, the table;
# a feature is "what it is called: NAME..."
run_all() {
	local version named=() failed=0
	for version; do
		[ "$machine" = amd64 ] || version=$machine/$version
		named+=("$version")
		run_one "$version" || failed=1
	done
	table "${named[@]}"
	return $failed
}
