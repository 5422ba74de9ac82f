# SPDX-License-Identifier: GPL-2.0
#
# What all plots have in common: `dir' has the data and gets the picture `plot';
# `note' says on which machine it was measured.

set terminal pngcairo size 960,540 noenhanced font "sans,11"
set output dir."/".plot.".png"
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key top left
# Room for the note below, and for the last number.
set bmargin 5
set rmargin 4
data = dir."/".plot.".dat"
set label 1 note at screen 0.99,0.015 right font ",9" textcolor rgb "#a00000"
