// SPDX-License-Identifier: GPL-2.0
/*
 * Grids on stdout, in the look of the debug dumps of a kube-apiserver.
 *
 * Cells end in a comma and are padded to the width of their column, but for the
 * last one of a row.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

/* Columns are at least so wide. */
#define MIN_WIDTH 8

/**
 * grid_cell() - add a cell
 * @grid: where
 * @format: of printf(3)
 */
void grid_cell(struct grid *grid, const char *format, ...)
{
	va_list args;

	grid->cells = need(reallocarray(grid->cells, grid->nr + 1,
					sizeof(*grid->cells)));
	va_start(args, format);
	if (vasprintf(&grid->cells[grid->nr++], format, args) < 0)
		need(NULL);
	va_end(args);
}

/**
 * grid_cells() - add cells
 * @grid: where
 * @cells: texts that need no care
 * @nr: how many
 */
void grid_cells(struct grid *grid, const char *const *cells, size_t nr)
{
	while (nr--)
		grid_cell(grid, "%s", *cells++);
}

/**
 * grid_text() - add a cell with text that a client chose
 * @grid: where
 * @text: of which what would break the table or command a terminal is written
 *	as \xHH, byte by byte
 */
void grid_text(struct grid *grid, const char *text)
{
	char *cell = make_printable(text, ",\\");

	grid_cell(grid, "%s", cell);
	free(cell);
}

/* In characters: all bytes but those that continue one. */
static size_t width_of(const char *cell)
{
	size_t width = 0;

	while (*cell)
		width += (*cell++ & 0xc0) != 0x80;
	return width;
}

/**
 * grid_print() - print a grid and free it
 * @grid: it
 */
void grid_print(struct grid *grid)
{
	size_t *widths = need(calloc(grid->columns, sizeof(*widths)));
	size_t i, column, width;

	for (i = 0; i < grid->nr; i++) {
		width = width_of(grid->cells[i]) + strlen(", ");
		column = i % grid->columns;
		if (width < MIN_WIDTH)
			width = MIN_WIDTH;
		if (widths[column] < width)
			widths[column] = width;
	}
	for (i = 0; i < grid->nr; i++) {
		column = i % grid->columns;
		if (column == grid->columns - 1)
			printf("%s\n", grid->cells[i]);
		else
			printf("%s,%*s", grid->cells[i],
			       (int)(widths[column] - 1 -
				     width_of(grid->cells[i])), "");
		free(grid->cells[i]);
	}
	free(grid->cells);
	free(widths);
}

/**
 * grid_time() - add a cell with a point in time
 * @grid: where
 * @ns: since 1970; 0: the zero time of Go
 */
void grid_time(struct grid *grid, uint64_t ns)
{
	char text[TIME_ROOM];

	if (!ns) {
		grid_cell(grid, "0001-01-01T00:00:00Z");
		return;
	}
	format_time(text, ns);
	grid_cell(grid, "%s", text);
}

/**
 * grid_duration() - add a cell with a duration
 * @grid: where
 * @ns: the duration
 */
void grid_duration(struct grid *grid, uint64_t ns)
{
	char text[DURATION_ROOM];

	format_duration(text, ns);
	grid_cell(grid, "%s", text);
}

/**
 * grid_seat_seconds() - add a cell with an amount of work, or of virtual time
 * @grid: where
 * @work: in seat-seconds * 10^8
 */
void grid_seat_seconds(struct grid *grid, uint64_t work)
{
	grid_cell(grid, "%ju.%08juss", (uintmax_t)(work / SEAT_SECOND),
		  (uintmax_t)(work % SEAT_SECOND));
}
