// SPDX-License-Identifier: GPL-2.0
/*
 * Tables on stdout, in the look of kubectl.
 */
#include <stdarg.h>
#include <libsmartcols.h>

#include "kapfctl.h"

/**
 * table_new() - an empty table
 * @columns: names of its columns, and NULL
 *
 * Return: the table, never NULL.
 */
struct libscols_table *table_new(const char *const *columns)
{
	struct libscols_table *table = need(scols_new_table());

	scols_table_set_column_separator(table, "   ");
	table_columns(table, columns);
	return table;
}

/**
 * table_columns() - add columns to a table that has no rows yet
 * @table: where
 * @columns: their names, and NULL
 */
void table_columns(struct libscols_table *table, const char *const *columns)
{
	for (; *columns; columns++)
		need(scols_table_new_column(table, *columns, 0, 0));
}

/**
 * table_row() - add a row
 * @table: where
 *
 * Followed by a string for each column; more are not looked at.
 */
void table_row(struct libscols_table *table, ...)
{
	struct libscols_line *line = need(scols_table_new_line(table, NULL));
	size_t column, columns = scols_table_get_ncols(table);
	va_list cells;

	va_start(cells, table);
	for (column = 0; column < columns; column++)
		if (scols_line_set_data(line, column, va_arg(cells, char *)))
			need(NULL);
	va_end(cells);
}

/**
 * table_print() - print a table, unless it has no rows, and free it
 * @table: it
 *
 * Return: whether it had rows.
 */
bool table_print(struct libscols_table *table)
{
	bool rows = !scols_table_is_empty(table);

	if (rows)
		scols_print_table(table);
	scols_unref_table(table);
	return rows;
}
