# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by all scripts, which source it.

set -eu

# A script lies in script/ or in script/dev/. With CDPATH set, cd may go elsewhere and prints where.
unset CDPATH
top=$(cd "$(dirname "$0")" && pwd)
top=${top%/script*}
is_root=$([ "$(id -u)" -eq 0 ] && echo yes || echo no)

say() {
    printf '%s\n' "${0##*/}: $*" >&2
}

die() {
    say "$*"
    exit 1
}

# The comment at a script's top is its help.
case ${1:-} in
-h | --help)
    sed -n '/^# SPDX/d; /^#!/d; /^#/!q; s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

# Caches outside the tree, which may be deleted at any time.
if [ $is_root = yes ]; then
    cache=${XDG_CACHE_HOME:-/var/cache}
else
    cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
fi
# The part that takes long to get or to make; chroots see it too.
kept=$cache/pcq-kept

# ccache saves compiling what did not change: in another build folder, by another script. A package is
# built by Debian's own tools, without it; whoever sets the launcher has another, or with nothing none.
if [ -z "${CMAKE_C_COMPILER_LAUNCHER+set}" ] && command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_DIR="${CCACHE_DIR:-$kept/ccache}" CCACHE_NOHASHDIR=1 CCACHE_BASEDIR="$top" CCACHE_SLOPPINESS=locale
fi

# find_python MODULE…: sets python to one that has these; Debian's packages are for its own, whatever stands before it in PATH
find_python() {
    for python in /usr/bin/python3 python3; do
        ! "$python" -c "$(printf 'import %s\n' "$@")" 2>/dev/null || return 0
    done
    return 1
}

# choose_build: sets BUILD, the build folder; where root made it or what is in it, and we are not root, one of our own
choose_build() {
    if [ -z "${BUILD:-}" ]; then
        BUILD=$top/build
        if ! ours_to_write "$BUILD"; then
            BUILD=$cache/pcq-build-$(echo "$top" | cksum | cut -d' ' -f1)
            say "build/ is not ours to write: building in $BUILD"
        fi
    fi
    mkdir -p "$BUILD"
    BUILD=$(cd "$BUILD" && pwd)
    export BUILD
}

ours_to_write() {
    if [ -e "$1" ]; then
        [ -w "$1" ] && { [ ! -e "$1/cmake.out" ] || [ -w "$1/cmake.out" ]; }
    else
        [ -w "${1%/*}" ]
    fi
}

# only_one FILE WHAT: waits until no other run has it; it is given back when this one ends, however that comes, or lets_go
only_one() {
    command -v flock >/dev/null || return 0
    exec 9>"$1"
    flock --nonblock 9 || {
        say "waiting for another run $2"
        flock 9
    }
}

lets_go() {
    exec 9>&-
}

# of_this_tree FOLDER: what was built there of another checkout is built anew, however old its files are: a chroot sees each
# checkout in the same place
of_this_tree() {
    tree=$(ls -di "$top")
    [ "$(cat "$1/tree" 2>/dev/null)" = "$tree" ] || rm -f "$1/.ninja_log"
    echo "$tree" >"$1/tree"
}

# lock_build: nobody else builds in $BUILD meanwhile; the scripts that are called know by $PCQ_LOCKED that it is us
lock_build() {
    [ "${PCQ_LOCKED:-}" != "$BUILD" ] || return 0
    only_one "$BUILD/.lock" "in $BUILD"
}

# goes_at_end PATH: is removed when the script ends, however it is ended
goes_at_end() {
    at_end="${at_end:-}$1
"
    trap remove_at_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP PIPE TERM
}

remove_at_end() {
    printf %s "$at_end" | while read -r path; do rm -rf "$path"; done
}

# make_private: a folder that the unprivileged user owns
make_private() {
    private=$(mktemp -d /tmp/pcq.XXXXXX)
    goes_at_end "$private"
    mkdir "$private/home" "$private/tmp"
    [ $is_root = no ] || chown -R nobody "$private"
}

# unprivileged COMMAND…: root gets no plugins from Wireshark, so root becomes "nobody".
# The surroundings are the same for everybody: own HOME, no settings from elsewhere, no capture tools.
unprivileged() {
    set -- env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u WIRESHARK_CONFIG_DIR -u WIRESHARK_DATA_DIR \
        CMAKE_C_COMPILER_LAUNCHER= CMAKE_CXX_COMPILER_LAUNCHER= WIRESHARK_EXTCAP_DIR="$private/tmp" HOME="$private/home" TMPDIR="$private/tmp" TZ=UTC LC_ALL=C.UTF-8 "$@"
    if [ $is_root = yes ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all "$@"
    else
        "$@"
    fi
}

say_who() {
    [ $is_root = no ] || say "running as user \"nobody\": Wireshark gives root no plugins"
}

# share_plugins: sets plugins to a copy that the unprivileged user can read, and that no other build changes
share_plugins() {
    plugins=$private/plugins
    cp -R "$BUILD/plugins" "$plugins"
    chmod -R a+rX "$plugins"
    if grep -q '^PCQ_SANITIZE:BOOL=ON' "$BUILD/CMakeCache.txt"; then
        sanitize_wireshark
    fi
}

# sanitize_wireshark: gives the programs of the distribution what a sanitized plugin needs.
# wmem is told to allocate each object apart, else reads beyond one would stay in its pool.
sanitize_wireshark() {
    mkdir "$private/bin"
    for program in tshark sharkd; do
        cat >"$private/bin/$program" <<END
#!/bin/sh
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) \$LD_PRELOAD"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
export WIRESHARK_DEBUG_WMEM_OVERRIDE=simple G_SLICE=always-malloc
exec $(command -v $program) "\$@"
END
    done
    chmod -R a+rx "$private/bin"
    PATH=$private/bin:$PATH
}

# A plugin that does not load is a warning to tshark, which then exits 0.
check_plugin() {
    listed=$(unprivileged env WIRESHARK_PLUGIN_DIR="$plugins" tshark -G plugins 2>&1) || true
    case $listed in
    *pcq.so*dissector*"$plugins"*) ;;
    *) die "tshark does not load the plugin from $plugins:
$(echo "$listed" | grep -i pcq || echo "(it is not in the list of 'tshark -G plugins')")" ;;
    esac
}

# build_and_load [TARGET…]: what every script begins with that runs the plugin here; sets BUILD, private and plugins.
# These targets are built too, and what lies in a folder of their name is copied into private.
build_and_load() {
    choose_build
    lock_build
    PCQ_LOCKED=$BUILD "$top/script/dev/build"
    make_private
    say_who
    share_plugins
    [ $# -eq 0 ] || ninja --quiet -C "$BUILD" "$@" >&2
    for target in "$@"; do
        [ ! -d "$BUILD/$target" ] || cp -R "$BUILD/$target" "$private/"
    done
    lets_go
    chmod -R a+rX "$private"
    check_plugin
}

# debian_mirror: where this machine gets Debian from, whatever the form of its source list
debian_mirror() {
    mirror=${PCQ_MIRROR:-$(
        . /etc/os-release
        apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
            awk -v suites=" ${VERSION_CODENAME:-sid} stable oldstable testing unstable sid " \
                '$3 == "main" && index(suites, " " $2 " ") { print $1; exit }'
    )}
    [ -n "$mirror" ] || die "no Debian mirror in the source list; set PCQ_MIRROR"
    echo "$mirror"
}

# debian_source SUITE PACKAGE FOLDER: unpacks its source package with Debian's patches; what was fetched stays in $kept
debian_source() {
    from=$kept/source-$1-$2
    (
        only_one "$from.lock" "that fetches $2"
        [ -e "$from" ] || fetch_source "$1" "$2"
    )
    rm -rf "$3.new"
    mkdir -p "$3.new"
    tar -C "$3.new" --strip-components=1 -xf "$(find "$from" -name "$2_*.orig.tar.*" ! -name '*.asc')"
    # A package of the older format has one patch of everything.
    older=$(find "$from" -name "$2_*.diff.gz")
    if [ -n "$older" ]; then
        zcat "$older" | patch -d "$3.new" --quiet -p1
    else
        tar -C "$3.new" -xf "$from/$2"_*.debian.tar.*
    fi
    for change in $(grep -sv '^#' "$3.new/debian/patches/series"); do
        patch -d "$3.new" --quiet -p1 <"$3.new/debian/patches/$change"
    done
    mv "$3.new" "$3"
}

# The signed index vouches for both parts; not every mirror has the .dsc that lists them again.
fetch_source() {
    say "fetching the source package $2 of Debian's $1"
    rm -rf "$from.new"
    (
        other_suite "$from.new" deb-src "$1"
        cd "$from.new"
        other_apt apt-get source --download-only --tar-only --only-source "$2"
        other_apt apt-get source --download-only --diff-only --only-source "$2"
        rm -rf apt
    ) >&2
    mv "$from.new" "$from"
}

# other_suite FOLDER deb|deb-src SUITE: makes apt's lists of another Debian in FOLDER/apt, for other_apt TOOL ARGUMENT…
other_suite() {
    other=$1/apt
    mkdir -p "$other/lists/partial" "$other/archives/partial"
    echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg check-valid-until=no] $(debian_mirror) $3 main" \
        >"$other/sources.list"
    other_apt apt-get update
}

other_apt() {
    tool=$1
    shift
    "$tool" -qq -o Dir::Etc::SourceList="$other/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$other/lists" -o Dir::Cache="$other" -o APT::Sandbox::User=root "$@"
}
