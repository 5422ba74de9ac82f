// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl completion: scripts by which bash and zsh complete what is typed, made
 * from the table of commands, so that they know what this kapfctl knows.
 */
#include <stdio.h>
#include <string.h>

#include "kapfctl.h"

/* What a shell does with the table, in either: sets variables for a command. */
static const char table_start[] =
"# What is known of a command: its options, those with a value, what -o takes,\n"
"# what its first argument can be, and the kind of objects that it names.\n"
"_kapfctl_command()\n"
"{\n"
"	opts='' vals='' fmts='' args='' kind=''\n"
"	case $1 in\n";

static const char table_end[] =
"	esac\n"
"}\n"
"\n";

static const char bash_head[] =
"# bash completion of kapfctl: source <(kapfctl completion bash)\n"
"\n";

static const char bash_tail[] =
"_kapfctl()\n"
"{\n"
"	local opts vals fmts args kind cmd='' first='' device=() at value\n"
"	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
"\n"
"	# --option=value is three words.\n"
"	if [ \"$word\" = = ]; then\n"
"		word=\n"
"	elif [ \"$previous\" = = ]; then\n"
"		previous=${COMP_WORDS[COMP_CWORD-2]}\n"
"	fi\n"
"	_kapfctl_command ''\n"
"	for ((at = 1; at < COMP_CWORD; at++)); do\n"
"		value=${COMP_WORDS[at]}\n"
"		case \" $vals \" in\n"
"		*\" $value \"*)\n"
"			[ \"${COMP_WORDS[++at]}\" != = ] || ((at++))\n"
"			[ \"$value\" != --device ] ||\n"
"				device=(--device \"${COMP_WORDS[at]}\")\n"
"			continue\n"
"			;;\n"
"		esac\n"
"		case $value in\n"
"		-*) ;;\n"
"		*)\n"
"			if [ -z \"$cmd\" ]; then\n"
"				cmd=$value\n"
"				_kapfctl_command \"$cmd\"\n"
"			else\n"
"				first=${first:-$value}\n"
"			fi\n"
"			;;\n"
"		esac\n"
"	done\n"
"\n"
"	case \" $vals \" in\n"
"	*\" $previous \"*)\n"
"		case $previous,$fmts in\n"
"		--output,?* | -o,?*)\n"
"			mapfile -t COMPREPLY < <(compgen -W \"$fmts\" -- \"$word\")\n"
"			;;\n"
"		--output, | -o, | --filename,* | -f,* | --device,*)\n"
"			compopt -o filenames 2>/dev/null\n"
"			mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
"			;;\n"
"		*) COMPREPLY=() ;;\n"
"		esac\n"
"		return\n"
"		;;\n"
"	esac\n"
"	case $word in\n"
"	-*) args=$opts ;;\n"
"	*)\n"
"		if [ \"$kind\" = first ]; then\n"
"			kind=$first\n"
"		elif [ -n \"$first\" ]; then\n"
"			kind='' args=''\n"
"		fi\n"
"		[ -z \"$kind\" ] ||\n"
"			args=$(\"$1\" \"${device[@]}\" get \"$kind\" -o name 2>/dev/null |\n"
"				sed 's|.*/||')\n"
"		;;\n"
"	esac\n"
"	mapfile -t COMPREPLY < <(compgen -W \"$args\" -- \"$word\")\n"
"}\n"
"\n"
"complete -F _kapfctl kapfctl\n";

static const char zsh_head[] =
"#compdef kapfctl\n"
"# zsh completion of kapfctl: as _kapfctl in a directory of $fpath, or\n"
"# source <(kapfctl completion zsh) after compinit\n"
"\n";

static const char zsh_tail[] =
"_kapfctl()\n"
"{\n"
"	local opts vals fmts args kind cmd='' first='' at value\n"
"	local word=${words[CURRENT]} previous=${words[CURRENT-1]}\n"
"	local -a device\n"
"\n"
"	if [[ $word == --*=* ]]; then\n"
"		previous=${word%%=*}\n"
"		compset -P '*='\n"
"	fi\n"
"	_kapfctl_command ''\n"
"	for ((at = 2; at < CURRENT; at++)); do\n"
"		value=${words[at]}\n"
"		if [[ \" $vals \" == *\" $value \"* ]]; then\n"
"			((at++))\n"
"			[[ $value != --device ]] || device=(--device ${words[at]})\n"
"		elif [[ $value == --device=* ]]; then\n"
"			device=($value)\n"
"		elif [[ $value == -* ]]; then\n"
"			continue\n"
"		elif [[ -z $cmd ]]; then\n"
"			cmd=$value\n"
"			_kapfctl_command \"$cmd\"\n"
"		else\n"
"			first=${first:-$value}\n"
"		fi\n"
"	done\n"
"\n"
"	if [[ \" $vals \" == *\" $previous \"* ]]; then\n"
"		case $previous,$fmts in\n"
"		--output,?* | -o,?*) compadd -- ${=fmts} ;;\n"
"		--output, | -o, | --filename,* | -f,* | --device,*) _files ;;\n"
"		esac\n"
"		return\n"
"	fi\n"
"	if [[ $word == -* ]]; then\n"
"		args=$opts\n"
"	else\n"
"		if [[ $kind == first ]]; then\n"
"			kind=$first\n"
"		elif [[ -n $first ]]; then\n"
"			kind='' args=''\n"
"		fi\n"
"		[[ -z $kind ]] ||\n"
"			args=$(${words[1]} $device get $kind -o name 2>/dev/null |\n"
"				sed 's|.*/||')\n"
"	fi\n"
"	compadd -- ${=args}\n"
"}\n"
"\n"
"if [[ ${funcstack[1]-} == _kapfctl ]]; then\n"
"	_kapfctl \"$@\"\n"
"else\n"
"	compdef _kapfctl kapfctl\n"
"fi\n";

/* The words of "json, yaml or name", each with a space behind it. */
static void print_formats(const char *formats)
{
	size_t len;

	for (; *formats; formats += len) {
		formats += strspn(formats, ", ");
		len = strcspn(formats, ", ");
		if (strncmp(formats, "or", len))
			printf("%.*s ", (int)len, formats);
	}
}

static void print_options(const struct command *command)
{
	struct option options[MAX_OPTIONS];
	const struct option *at;

	all_options(command, options);
	printf("\t\topts='");
	for (at = options; at->name; at++)
		printf("--%s ", at->name);
	printf("'\n\t\tvals='");
	for (at = options; at->name; at++) {
		if (!at->has_arg)
			continue;
		printf("--%s ", at->name);
		if (at->val == 'o' ||
		    (command->brief && strchr(command->brief, at->val)))
			printf("-%c ", at->val);
	}
	printf("'\n");
}

static void print_command(const struct command *command)
{
	size_t i;

	printf("\t'%s')\n", command->name);
	print_options(command);
	if (command->formats) {
		printf("\t\tfmts='");
		print_formats(command->formats);
		printf("'\n");
	}
	if (!*command->name) {
		printf("\t\targs='");
		for (i = 1; command_at(i); i++)
			printf("%s ", command_at(i)->name);
		printf("'\n");
	} else if (command->words) {
		printf("\t\targs='%s'\n", command->words);
	}
	if (command->names)
		printf("\t\tkind=%s\n", *command->names ? command->names : "first");
	printf("\t\t;;\n");
}

static int completion_main(int argc, char **argv)
{
	const char *shell;
	bool is_bash;
	size_t i;

	next_option(&completion_command, argc, argv);
	if (optind == argc)
		return usage_error(&completion_command, "say for which shell: bash or zsh");
	shell = argv[optind++];
	if (optind < argc)
		return usage_error(&completion_command, "\"%s\" is too much",
				   argv[optind]);
	is_bash = !strcmp(shell, "bash");
	if (!is_bash && strcmp(shell, "zsh"))
		return usage_error(&completion_command,
				   "there is no completion for \"%s\", only for bash and zsh",
				   shell);
	fputs(is_bash ? bash_head : zsh_head, stdout);
	fputs(table_start, stdout);
	for (i = 0; command_at(i); i++)
		print_command(command_at(i));
	fputs(table_end, stdout);
	fputs(is_bash ? bash_tail : zsh_tail, stdout);
	return DONE;
}

const struct command completion_command = {
	.name = "completion",
	.summary = "a script by which bash or zsh completes commands",
	.help =
"usage: kapfctl completion bash|zsh\n"
"\n"
"Prints a script that completes commands, options, kinds and, where the device may\n"
"be read, the names of levels and schemas:\n"
"\n"
"  source <(kapfctl completion bash)     in ~/.bashrc\n"
"  source <(kapfctl completion zsh)      in ~/.zshrc, after compinit\n",
	.words = "bash zsh",
	.main = completion_main,
};
