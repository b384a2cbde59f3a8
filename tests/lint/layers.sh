#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layers.sh - an include may only point down: the table of folders, the order inside core, and the pure files.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

mapfile -t list < <(sources c h def cu cuh)
[[ ${#list[@]} -gt 0 ]] || finish

cat >"$scratch/layers.pl" <<'PERL'
use strict; use warnings;
my %may = (
    core       => "core",
    keys       => "core keys",
    audit      => "core keys audit",
    tenants    => "core keys audit tenants",
    registry   => "core keys audit tenants registry",
    scheduler  => "core keys audit tenants registry scheduler",
    serving    => "core keys audit tenants registry scheduler serving",
    api        => "core keys audit tenants registry scheduler serving api",
    workers    => "core workers",
    cli        => "core cli audit/pure",
    migrations => "core migrations",
);
my %rank = (base => 0, table => 1, json => 2, db => 2, redis => 2, crypto => 2, data => 2, http => 3, wire => 4);
my $audit_pure = qr{^audit/(?:record|record_read|event_code|filter|format|format_[a-z]+|head|lines|scan|merkle|chain|bundle|verify|verify_head)(?:_int)?\.(?:[ch]|def)$};
my $sched_pure = qr{^scheduler/plan/};

for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!";
    my ($folder) = split m{/}, $file;
    my %allowed = map { $_ => 1 } split ' ', $may{$folder};
    while (my $line = <$in>) {
        next unless $line =~ /^\s*#\s*include\s+"([^"]+)"/;
        my $to = $1;
        my $say = sub { print "$file:$.\t$_[0]\n" };
        if ($to =~ m{(^|/)\.\.?/} || $to !~ m{/}) {
            $say->("an include is written \"folder/file.h\" from the root, not \"$to\"");
            next;
        }
        my ($target) = split m{/}, $to;
        if (!exists $may{$target}) {
            $say->("\"$to\" is in no folder of the product; system headers are written <$to>");
        } elsif (!$allowed{$target} && !($allowed{"$target/pure"} && $to =~ $audit_pure)) {
            $say->("$folder may not include $target (allowed: $may{$folder})");
        } elsif ($folder eq 'core' && $target eq 'core') {
            my ($from_room) = $file =~ m{^core/([^/]+)/};
            my ($to_room) = $to =~ m{^core/([^/]+)/};
            if (!defined $from_room || !exists $rank{$from_room}) {
                $say->("core has no room for this file; its rooms are " . join(' ', sort keys %rank));
            } elsif (!defined $to_room || !exists $rank{$to_room} || $rank{$to_room} > $rank{$from_room}) {
                $say->("core/$from_room may not include \"$to\" (order: base < table < doors < http < wire)");
            }
        }
        if ($file =~ $sched_pure && $to !~ m{^core/base/} && $to !~ $sched_pure) {
            $say->("scheduler/plan is pure: it includes core/base and its own headers only, not \"$to\"");
        }
        if ($file =~ $audit_pure && $to !~ m{^core/(?:base|table|json|crypto|data)/} && $to !~ $audit_pure) {
            $say->("the pure part of audit includes no database, network or service header: \"$to\"");
        }
    }
    close $in;
}
PERL
perl "$scratch/layers.pl" "${list[@]}" >"$scratch/findings"
take_findings <"$scratch/findings"
finish
