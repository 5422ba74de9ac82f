# SPDX-License-Identifier: GPL-2.0
load "common.gp"
set title "A FINISH that seats one of the requests that wait, 12 in a queue on average"
set logscale x 2
set xlabel "queues of the level"
set ylabel "instructions"
set yrange [0:*]
plot data using 1:2 with linespoints lw 2 pt 7 title "kapf"
