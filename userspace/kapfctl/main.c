// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl: the tool that configures kapf and looks into it.
 *
 * This file is the table of its subcommands, and what all of them do in the
 * same way: common options, help, messages, exit status.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

static const struct command *const commands[] = {
	&apply_command,
	&diff_command,
	&replace_command,
	&delete_command,
	&lint_command,
	&get_command,
	&describe_command,
	&maintain_command,
	&classify_command,
	&explain_command,
	&dump_command,
	&status_command,
	&mode_command,
	&sessions_command,
	&evict_command,
	&why_slow_command,
	&top_command,
	&metrics_command,
	&odds_command,
	&tradeoff_command,
	&report_command,
	&completion_command,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct option program_options[] = {
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

/* What stands before the subcommand. */
static const struct command program = {
	.name = "",
	.help =
"usage: kapfctl [--device PATH] COMMAND [ARGUMENT]...\n"
"       kapfctl COMMAND --help, or kapfctl help [COMMAND]\n"
"       kapfctl --version, or kapfctl version\n"
"\n"
"Configures kapf, Kubernetes API Priority and Fairness in the kernel, and looks\n"
"into it.  Exit status: 0 done, 1 refused, 2 wrongly typed; but see diff.  What\n"
"shows something prints JSON with -o json; the --help of each names the keys.\n"
"\n",
	.brief = "+",
	.options = program_options,
};

/* Names of files may be long. */
#define COMPLAINT_ROOM 8192

const char *control_node = KAPF_CONTROL_NODE;

/* What -o says; NULL: nothing, so that it is for people. */
const char *output_format;

/* Takes no memory: there may be none. */
static void vcomplain(const char *format, va_list args)
{
	char text[COMPLAINT_ROOM];

	vsnprintf(text, sizeof(text), format, args);
	fputs("kapfctl: ", stderr);
	print_printable(stderr, text);
	fputc('\n', stderr);
}

/**
 * complain() - say on stderr what is wrong
 * @format: of printf(3), without a newline
 */
void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(format, args);
	va_end(args);
}

static int try_help(const struct command *command)
{
	complain("try kapfctl %s%s--help", command->name,
		 command == &program ? "" : " ");
	return USAGE;
}

/**
 * usage_error() - say on stderr how a command was wrongly typed
 * @command: which
 * @format: of printf(3), without a newline
 *
 * Return: USAGE.
 */
int usage_error(const struct command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(format, args);
	va_end(args);
	return try_help(command);
}

/**
 * need() - end the program when memory is short
 * @memory: what an allocation returned
 *
 * Return: @memory, never NULL.
 */
void *need(void *memory)
{
	if (memory)
		return memory;
	complain("not enough memory");
	exit(REFUSED);
}

static void print_help(const struct command *command)
{
	size_t i;

	fputs(command->help, stdout);
	for (i = 0; command == &program && i < NR_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\n");
	if (command->formats)
		printf("  -o, --output FORMAT  for programs: %s\n",
		       command->formats);
	printf("      --device PATH    control node; default %s\n"
	       "  -h, --help           this text\n", KAPF_CONTROL_NODE);
}

/* Is it one of the words of @formats, as in "json, yaml or name"? */
static bool is_format(const char *format, const char *formats)
{
	size_t word;

	for (; *formats; formats += word + strspn(formats + word, ", ")) {
		word = strcspn(formats, ", ");
		if (word == strlen(format) && !memcmp(format, formats, word))
			return strcmp(format, "or");
	}
	return false;
}

static void take_format(const struct command *command, const char *format)
{
	if (!is_format(format, command->formats))
		exit(usage_error(command, "-o \"%s\" is not accepted: must be %s",
				 format, command->formats));
	output_format = format;
}

/**
 * command_at() - the commands, one after the other
 * @index: 0: what stands before a command
 *
 * Return: NULL: there are no more.
 */
const struct command *command_at(size_t index)
{
	if (!index)
		return &program;
	return index <= NR_COMMANDS ? commands[index - 1] : NULL;
}

/**
 * all_options() - the options of a command
 * @command: which
 * @options: out: they, the common ones among them, and one without a name
 */
void all_options(const struct command *command,
		 struct option options[MAX_OPTIONS])
{
	static const struct option common[] = {
		{ "device", required_argument, NULL, 'D' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	static const struct option output = {
		"output", required_argument, NULL, 'o'
	};
	int nr = 0;

	for (; command->options && command->options[nr].name; nr++)
		options[nr] = command->options[nr];
	if (command->formats)
		options[nr++] = output;
	memcpy(options + nr, common, sizeof(common));
}

/* What has been printed has to arrive. */
static int end_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	complain("cannot write to standard output");
	return REFUSED;
}

/**
 * next_option() - getopt_long(3), of which the common options are done here
 * @command: whose options are read
 * @argc: of @argv
 * @argv: the arguments, with a name for messages before them
 *
 * Return: the next option that is not common, or -1.
 */
int next_option(const struct command *command, int argc, char **argv)
{
	struct option options[MAX_OPTIONS];
	char brief[16];
	int option;

	all_options(command, options);
	snprintf(brief, sizeof(brief), "%sh%s",
		 command->brief ? command->brief : "",
		 command->formats ? "o:" : "");
	do {
		option = getopt_long(argc, argv, brief, options, NULL);
		if (option == 'D')
			control_node = optarg;
		else if (option == 'o' && command->formats)
			take_format(command, optarg);
	} while (option == 'D' || (option == 'o' && command->formats));

	if (option == 'h') {
		print_help(command);
		exit(end_output(DONE));
	}
	if (option == '?')
		exit(try_help(command));
	return option;
}

/**
 * number_option() - read a number, or end the program as wrongly typed
 * @command: whose option it is
 * @name: of the option
 * @value: of the option
 * @least: what it may be
 * @most: likewise
 *
 * Return: the number.
 */
unsigned int number_option(const struct command *command, const char *name,
			   const char *value, unsigned int least,
			   unsigned int most)
{
	unsigned long number;
	char *end;

	number = strtoul(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end && number >= least &&
	    number <= most)
		return number;
	exit(usage_error(command, "--%s \"%s\" is not a number of %u to %u",
			 name, value, least, most));
}

static int print_version(void)
{
	printf("kapfctl %s, interface %d\n", KAPF_VERSION, KAPF_ABI);
	return DONE;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int no_command(const char *name)
{
	return usage_error(&program, "there is no command \"%s\"", name);
}

/* kapfctl help [COMMAND] and kapfctl version, as kubectl has them */
static int run_word(int argc, char **argv)
{
	bool is_help = !strcmp(argv[0], "help");
	const struct command *command = &program;

	if (!is_help && strcmp(argv[0], "version"))
		return no_command(argv[0]);
	if (argc > 1 + is_help)
		return usage_error(&program, "\"%s\" is too much",
				   argv[1 + is_help]);
	if (!is_help)
		return print_version();
	if (argc > 1)
		command = find_command(argv[1]);
	if (!command)
		return no_command(argv[1]);
	print_help(command);
	return DONE;
}

static int run(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);

	if (!command)
		return run_word(argc, argv);
	argv[0] = "kapfctl";
	optind = 0; /* start anew */
	return command->main(argc, argv);
}

int main(int argc, char **argv)
{
	argv[0] = "kapfctl";
	if (next_option(&program, argc, argv) == 'V')
		return end_output(print_version());
	if (optind == argc)
		return usage_error(&program, "a command is missing");
	return end_output(run(argc - optind, argv + optind));
}
