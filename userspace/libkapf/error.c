// SPDX-License-Identifier: LGPL-2.1
/*
 * Sentences that say why a call failed, and text of users made fit to stand in
 * one.
 */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

void kapf_error_set(struct kapf_error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
}

/*
 * Puts @text between quotes.  What could break the line or the terminal is
 * escaped, and a long text cut: a message has one line.
 */
const char *kapf_quote(char *buffer, size_t size, const char *text)
{
	const char *const dots = "...\"";
	size_t used = 0;

	buffer[used++] = '"';
	for (; *text; text++) {
		unsigned char c = *text;

		if (used + sizeof("\\xff") + sizeof("...\"") > size) {
			/* A UTF-8 character is not cut in two. */
			if ((c & 0xc0) == 0x80)
				while ((buffer[--used] & 0xc0) == 0x80)
					;
			snprintf(buffer + used, size - used, "%s", dots);
			return buffer;
		}
		if (c < 0x20 || c == 0x7f) {
			used += snprintf(buffer + used, size - used, "\\x%02x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			buffer[used++] = '\\';
		buffer[used++] = c;
	}
	buffer[used++] = '"';
	buffer[used] = '\0';
	return buffer;
}
