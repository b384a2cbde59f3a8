# SPDX-License-Identifier: Apache-2.0
# strip.pl - C source without comments, line numbers kept; blank => 1 also empties strings and character constants.
use strict; use warnings;

sub strip_c {
    my ($text, %how) = @_;
    $text =~ s{(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}{
        my ($comment, $literal) = ($1, $2);
        defined $comment ? (($comment =~ tr/\n//) ? "\n" x ($comment =~ tr/\n//) : ' ')
            : $how{blank} ? substr($literal, 0, 1) . substr($literal, 0, 1) : $literal
    }gse;
    return $text;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!";
    local $/;
    my $text = <$in>;
    close $in;
    return defined $text ? $text : '';
}
1;
