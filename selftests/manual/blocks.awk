# SPDX-License-Identifier: GPL-2.0
#
# awk -f blocks.awk -v kind=c|sh PAGE: the code in EXAMPLES of a manual page; C
# begins with #include, a command with # and a space.

$1 == ".Sh" { inside = $2 == "EXAMPLES" }
$1 == ".Ed" { block = 0 }
block {
	if (block == 1)
		found = /^#include/ ? "c" : /^# / ? "sh" : "unknown"
	block = 2
	if (found == "unknown") {
		print FILENAME ": neither C nor a command: " $0 >"/dev/stderr"
		exit 1
	}
	gsub(/\\&/, "")
	gsub(/\\e/, "\\")
	if (found == kind)
		print
}
inside && $1 == ".Bd" { block = 1 }
