#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# doors.sh - each third-party header is included in one folder, and a header that is in no table is refused.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

mapfile -t list < <(sources c h def cu cuh)
[[ ${#list[@]} -gt 0 ]] || finish

cat >"$scratch/doors.pl" <<'PERL'
use strict; use warnings;
my @doors = (                                    # header, the one folder (or folders) that may include it
    [qr{^jansson\.h$},                           'core/json/'],
    [qr{^(?:libpq-fe|libpq/.*|postgres.*)\.h$},  'core/db/'],
    [qr{^hiredis/},                              'core/redis/'],
    [qr{^(?:openssl/.*|jwt\.h|argon2\.h)$},      'core/crypto/'],
    [qr{^(?:microhttpd\.h|gnutls/.*|curl/.*)$},  'core/http/'],
    [qr{^(?:p11-kit/.*|pkcs11\.h)$},             'keys/'],
    [qr{^zlib\.h$},                              'workers/image/gunzip.c'],
    [qr{^zstd\.h$},                              'workers/image/unzstd.c'],
    [qr{^(?:seccomp\.h|nvml\.h)$},               'workers/'],
    [qr{^linux/(?:seccomp|audit)\.h$},           'workers/'],
    [qr{^linux/filter\.h$},                      'workers/|core/http/'],   # ADR 0012, 0033
    [qr{^(?:cpuid|immintrin|x86intrin|arm_neon)\.h$}, 'workers/'],
    [qr{^(?:cuda.*|cublas.*|cudnn.*|curand.*|nccl.*|mma\.h)$}, 'workers/compute/kernels/cuda/'],
);
my %libc = map { $_ => 1 } qw(
    assert.h byteswap.h complex.h ctype.h dirent.h dlfcn.h elf.h endian.h err.h errno.h execinfo.h fcntl.h features.h fenv.h
    float.h fnmatch.h ftw.h getopt.h glob.h grp.h inttypes.h iso646.h langinfo.h libgen.h limits.h link.h locale.h malloc.h
    math.h memory.h mntent.h netdb.h poll.h pthread.h pty.h pwd.h regex.h resolv.h sched.h semaphore.h setjmp.h signal.h
    spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h
    sysexits.h syslog.h termios.h tgmath.h threads.h time.h uchar.h ucontext.h unistd.h utime.h utmp.h wchar.h wctype.h
    wordexp.h argp.h);
for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!";
    line: while (my $line = <$in>) {
        next unless $line =~ /^\s*#\s*include\s+<([^>]+)>/;
        my $header = $1;
        for my $door (@doors) {
            next unless $header =~ $door->[0];
            print "$file:$.\t<$header> may be included in $door->[1] only\n"
                unless grep { index($file, $_) == 0 } split /\|/, $door->[1];
            next line;
        }
        next if $libc{$header} || $header =~ m{^(?:sys|linux|arpa|netinet|net|bits|asm)/[\w/-]+\.h$};
        print "$file:$.\t<$header> belongs to no door; give it one folder in tests/lint/doors.sh and an ADR\n";
    }
    close $in;
}
PERL
perl "$scratch/doors.pl" "${list[@]}" >"$scratch/findings"
take_findings <"$scratch/findings"
finish
