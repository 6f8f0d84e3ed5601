# SPDX-License-Identifier: GPL-2.0-or-later
# Other Debians, each in a chroot that is made once and kept in $PCQ_CHROOTS; sourced after lib.sh, needs root.
# shellcheck disable=SC2154 # top, is_root, cache and kept are lib.sh's

chroots=${PCQ_CHROOTS:-$cache/pcq-chroots}

# suite_of SYSTEM: its name at Debian
suite_of() {
    case $1 in
    debian-12) echo bookworm ;;
    debian-13) echo trixie ;;
    debian-testing) echo testing ;;
    *) die "unknown system: $1" ;;
    esac
}

# Mounts live in a mount namespace of their own, so they end with the command, however it ends.
apart() {
    unshare --mount sh -euc "$@"
}

# make_chroot SYSTEM [FOLDER]: in the folder, else where it is kept
make_chroot() {
    suite=$(suite_of "$1")
    root=${2:-$chroots/$1}
    say "making $root ($suite)"
    rm -rf --one-file-system "$root.new"
    mkdir -p "$root.new"
    # An older debootstrap does not know a newer suite, but they are all made alike.
    script=/usr/share/debootstrap/scripts/$suite
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    apart 'exec debootstrap --variant=minbase --include=ca-certificates "$@"' sh \
        "$suite" "$root.new" "$(debian_mirror)" "$script" >"$root.log" 2>&1 </dev/null || die "$(tail -n 20 "$root.log")"
    # The index of a moving suite may be older than it says it may get; it is signed all the same.
    echo 'Acquire::Check-Valid-Until "false";' >"$root.new/etc/apt/apt.conf.d/90pcq"
    mkdir "$root.new/pcq"
    mv "$root.new" "$root"
}

# in_chroot SYSTEM|FOLDER COMMAND…: run in the chroot, in the tree, which can only be read there
in_chroot() {
    case $1 in
    /*) root=$1 ;;
    *) root=$chroots/$1 ;;
    esac
    shift
    mkdir -p "$kept" "$root/var/cache/pcq-kept"
    apart '
        root=$1 top=$2 kept=$3
        shift 3
        # A root that is a mount lets what runs there have mounts of its own, too.
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/tmp"
        mount --bind "$top" "$root/pcq"
        mount -o remount,bind,ro "$root/pcq"
        mount --bind "$kept" "$root/var/cache/pcq-kept"
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        cd /
        exec env -u TMPDIR -u PCQ_DYGRAPHS -u XDG_CACHE_HOME -u BUILD -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER \
            -u CCACHE_DIR HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$root" "$@" </dev/null
    ' sh "$root" "$top" "$kept" "$@"
}

# need_chroot SYSTEM: made if it is missing, mended if a run was interrupted
need_chroot() {
    [ $is_root = yes ] || die "needs root for a chroot of $1"
    "$top/script/dev/bootstrap" chroot
    mkdir -p "$chroots"
    (
        only_one "$chroots/$1.lock" "that makes $chroots/$1"
        [ -e "$chroots/$1" ] || make_chroot "$1"
    )
    [ -z "$(in_chroot "$1" dpkg --audit)" ] || in_chroot "$1" dpkg --configure -a
}

# upgrade_moving: bring the chroot of the one suite that moves up to today
upgrade_moving() {
    in_chroot debian-testing sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y dist-upgrade' >&2
}

# is_system SYSTEM: does this run there?
is_system() {
    [ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" = "$(suite_of "$1")" ]
}

# there SYSTEM ARGUMENT…: this same script in a chroot of that system. It builds in $build_there, which is left in $result.
# A second run of it there would build in the same folder, and waits.
there() {
    system=$1
    shift
    need_chroot "$system"
    build_there=/var/tmp/build-${0##*/}
    # shellcheck disable=SC2034 # for whoever called this
    result=$chroots/$system$build_there
    exec 8>"$result.lock"
    flock --nonblock 8 || {
        say "waiting for another run in $result"
        flock 8
    }
    in_chroot "$system" env BUILD="$build_there" "/pcq/script/dev/${0##*/}" "$@"
}
