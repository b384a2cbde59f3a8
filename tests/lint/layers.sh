#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layers.sh - an include may only point down: the table of folders, the order inside core, the pure files, and x_int.h in its own folder; no circle
# runs through two rooms.
# Then it draws what it saw: for each room, how many of its includes go to which other.
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
    backup     => "core keys audit tenants registry backup",
    scheduler  => "core keys audit tenants registry scheduler",
    serving    => "core keys audit tenants registry scheduler serving",
    api        => "core keys audit tenants registry scheduler serving api",
    workers    => "core workers",
    cli        => "core cli audit/pure",
    migrations => "core migrations",
);
my %rank = (base => 0, table => 1, json => 2, db => 2, redis => 2, crypto => 2, data => 2, http => 3, s3 => 4, wire => 4);
my $audit_pure = qr{^audit/(?:anchor_file|record|record_read|event_code|fields|filter|format|format_[a-z]+|head|key_text|lines|scan|merkle|chain|bundle|drop_list|evidence|fork|batches|verify|verify_drop|verify_head|verify_look|verify_report|witness)(?:_int)?\.(?:[ch]|def)$};
my $sched_pure = qr{^scheduler/plan/};

# x.h, x_int.h, x.def and x.c are one module; the folder it lies in is its room.
sub module { my $m = shift; $m =~ s/(?:_int)?\.(?:c|h|def|cu|cuh)$//; return $m }
sub room { my $m = shift; $m =~ s{/[^/]*$}{}; return $m }
my (%edge, %drawn, %size);

for my $file (@ARGV) {
    $size{room(module($file))}++;
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
        my ($from_module, $to_module) = (module($file), module($to));
        $edge{$from_module}{$to_module} ||= "$file:$." if $from_module ne $to_module;
        $drawn{room($from_module)}{room($to_module)}++;
        if ($to =~ m{^(.*)/[^/]+_int\.h$} && index($file, "$1/") != 0) {
            $say->("\"$to\" is for the files of $1/ and its rooms; what others need stands in a header without _int");
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

# Circles (Tarjan): modules that reach each other may be neighbours in one room, never in two.
my (%index, %low, %on, @stack, $n);
sub visit {
    my $v = shift;
    $index{$v} = $low{$v} = ++$n;
    push @stack, $v;
    $on{$v} = 1;
    for my $w (sort keys %{$edge{$v}}) {
        if (!$index{$w}) {
            visit($w);
            $low{$v} = $low{$w} if $low{$w} < $low{$v};
        } elsif ($on{$w} && $index{$w} < $low{$v}) {
            $low{$v} = $index{$w};
        }
    }
    return if $low{$v} != $index{$v};
    my @circle;
    do { push @circle, pop @stack; delete $on{$circle[-1]} } until $circle[-1] eq $v;
    my %rooms = map { room($_) => 1 } @circle;
    return if keys %rooms < 2;
    my %in = map { $_ => 1 } @circle;
    for my $from (sort @circle) {
        for my $to (sort grep { $in{$_} && room($_) ne room($from) } keys %{$edge{$from}}) {
            print "$edge{$from}{$to}\t$from and $to include each other in a circle through two rooms: @{[sort @circle]}\n";
        }
    }
}
no warnings 'recursion';
for my $v (sort keys %edge) { visit($v) if !$index{$v} }

# The drawing goes to its own file: rows include columns.
open my $out, '>', "$ENV{DRAWING}" or die;
my @order = qw(core/base core/table core/json core/db core/redis core/crypto core/data core/http core/wire keys audit);
my %placed = map { $_ => 1 } @order;
my %folder_rank; my $r = 0;
$folder_rank{$_} = $r++ for qw(core keys audit tenants registry backup scheduler serving mlops api workers cli migrations);
push @order, sort { ($folder_rank{(split m{/}, $a)[0]} // 99) <=> ($folder_rank{(split m{/}, $b)[0]} // 99) || $a cmp $b } grep { !$placed{$_} } keys %size;
@order = grep { $size{$_} } @order;
my $wide = 0;
for (@order) { $wide = length if length > $wide }
printf $out "%-*s files |%s\n", $wide + 5, "includes of a room (row) in rooms (column)", join('', map { sprintf '%4d', $_ } 1 .. @order);
for my $i (0 .. $#order) {
    printf $out "%3d %-*s %5d |%s\n", $i + 1, $wide, $order[$i], $size{$order[$i]},
        join('', map { $_ eq $order[$i] ? '   .' : sprintf '%4s', $drawn{$order[$i]}{$_} // '' } @order);
}
PERL
DRAWING=$scratch/drawing perl "$scratch/layers.pl" "${list[@]}" >"$scratch/findings"
cat "$scratch/drawing"
take_findings <"$scratch/findings"
finish
