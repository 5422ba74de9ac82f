# SPDX-License-Identifier: GPL-2.0
load "common.gp"
set title "A SUBMIT that finishes as many requests as it admits"
set logscale x 2
set xlabel "requests of one call"
set ylabel "instructions per request"
set yrange [0:*]
set key top right
plot data using 1:2 with linespoints lw 2 pt 7 title "kapf"
