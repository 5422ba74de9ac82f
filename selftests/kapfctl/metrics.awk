# SPDX-License-Identifier: GPL-2.0
#
# Of metrics in Prometheus' text format, a line for each that is the reference's, in
# the form of selftests/vectors/metrics.txt: name, type, labels with the values of
# enumerations, buckets.

/^# TYPE apiserver_flowcontrol_/ {
	type[$3] = $4
}

/^apiserver_flowcontrol_/ {
	name = $1
	sub(/[{].*/, "", name)
	if (!(name in type))
		sub(/_(bucket|sum|count)$/, "", name)
	labels = $1
	if (!sub(/.*[{]/, "", labels))
		labels = ""
	sub(/[}]$/, "", labels)
	nr = split(labels, label, ",")
	for (i = 1; i <= nr; i++) {
		split(label[i], part, "=")
		gsub(/"/, "", part[2])
		if (part[1] == "le") {
			if (part[2] != "+Inf" &&
			    !((name, "le", part[2]) in seen)) {
				seen[name, "le", part[2]] = 1
				bounds[name] = bounds[name] " " part[2]
			}
			continue
		}
		if (part[1] ~ /^(priority_level|flow_schema|reason)$/)
			part[2] = ""
		if ((name, part[1], part[2]) in seen)
			continue
		seen[name, part[1], part[2]] = 1
		if (!((name, part[1]) in values))
			keys[name] = keys[name] " " part[1]
		values[name, part[1]] = values[name, part[1]] " " part[2]
	}
}

# sorted(WORDS, SEPARATOR)
function sorted(words, separator,    word, nr, i, j, swap, all) {
	nr = split(words, word, " ")
	for (i = 1; i <= nr; i++)
		for (j = i + 1; j <= nr; j++)
			if (word[j] < word[i]) {
				swap = word[i]
				word[i] = word[j]
				word[j] = swap
			}
	for (i = 1; i <= nr; i++)
		all = all (i > 1 ? separator : "") word[i]
	return all
}

END {
	for (name in type) {
		text = ""
		nr = split(sorted(keys[name], " "), key, " ")
		for (i = 1; i <= nr; i++) {
			list = sorted(values[name, key[i]], "|")
			text = text (i > 1 ? "," : "") key[i] \
				(list == "" ? "" : "=" list)
		}
		print name " " type[name] " {" text "}" bounds[name]
	}
}
