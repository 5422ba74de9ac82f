// SPDX-License-Identifier: GPL-2.0
/*
 * The screen of top: draws frames, and does what keys say.
 */
#include <curses.h>
#include <locale.h>
#include <string.h>

#include "frame.h"

#define NSEC_PER_MSEC 1000000ULL

/**
 * struct screen - what is on it
 * @readings: the last two
 * @latest: which of these is the later one
 * @nr: how many there are
 * @sort: order of the levels
 * @paused: no more are taken
 */
struct screen {
	struct reading readings[2];
	int latest;
	int nr;
	enum sort_key sort;
	bool paused;
};

static const char help[] =
	"sort by: s seats, w waiting, d dispatched, r refused, n name; p pause; q quit";

/* Headings are the second line, and the one behind the levels. */
static bool is_heading(const struct lines *lines, size_t line)
{
	return line == 1 || (line > 1 && !*lines->all[line - 1]);
}

static void draw(const struct screen *screen)
{
	const struct reading *second = &screen->readings[screen->latest];
	struct frame frame;
	struct lines lines;
	char note[64];
	int line;

	erase();
	if (screen->nr < 2) {
		mvaddstr(0, 0, "reading twice");
		refresh();
		return;
	}
	make_frame(&frame, &screen->readings[!screen->latest], second,
		   screen->sort);
	snprintf(note, sizeof(note), "by %s%s", sort_names[screen->sort],
		 screen->paused ? "; paused" : "");
	frame_lines(&lines, &frame, note);
	for (line = 0; line < LINES - 1 && line < (int)lines.nr; line++) {
		attrset(is_heading(&lines, line) ? A_REVERSE : A_NORMAL);
		mvaddnstr(line, 0, lines.all[line], COLS);
	}
	attrset(A_NORMAL);
	mvaddnstr(LINES - 1, 0, help, COLS);
	refresh();
	free_lines(&lines);
	free_frame(&frame);
}

/* Take the place of the older reading. */
static int read_again(struct screen *screen, int fd)
{
	int next = !screen->latest;

	if (screen->nr > 1)
		free_reading(&screen->readings[next]);
	else
		screen->nr++;
	screen->latest = next;
	return take_reading(&screen->readings[next], fd);
}

/* false: it ends. */
static bool press(struct screen *screen, int key)
{
	static const char keys[NR_SORT_KEYS + 1] = "swdrn";
	const char *found = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	if (found)
		screen->sort = found - keys;
	else if (key == 'p' || key == ' ')
		screen->paused = !screen->paused;
	else if (key == '\f')
		clearok(curscr, TRUE);
	return key != 'q';
}

static int show(struct screen *screen, uint64_t interval, int fd)
{
	uint64_t now, due = 0;
	int key = ERR;

	do {
		now = time_now(CLOCK_MONOTONIC);
		if (now >= due && !screen->paused) {
			if (read_again(screen, fd) < 0)
				return REFUSED;
			/* The first rates are to be there soon. */
			due = now + (screen->nr < 2 ? 200 * NSEC_PER_MSEC :
						      interval);
		}
		draw(screen);
		if (screen->paused)
			timeout(-1);
		else
			timeout((due - now) / NSEC_PER_MSEC + 1);
		key = getch();
	} while (press(screen, key));
	return DONE;
}

/**
 * run_screen() - show what happens until q is pressed
 * @interval: between two readings, ns
 * @sort: order of the levels, at first
 * @fd: of the control node
 *
 * Return: exit status.
 */
int run_screen(uint64_t interval, enum sort_key sort, int fd)
{
	struct screen screen = { .sort = sort };
	int i, ret;

	setlocale(LC_CTYPE, "");
	initscr();
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	ret = show(&screen, interval, fd);
	endwin();
	for (i = 0; i < 2; i++)
		free_reading(&screen.readings[i]);
	return ret;
}
