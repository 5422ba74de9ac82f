/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who asks: users by the token that they show, and those who show none.
 */
#ifndef APISERVER_IDENTITY_H
#define APISERVER_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct identity - a user
 * @user: name
 * @groups: of the user, with system:authenticated or system:unauthenticated
 * @nr_groups: how many
 */
struct identity {
	const char *user;
	const char *const *groups;
	size_t nr_groups;
};

struct identities; /* who is known */

/**
 * identities_read() - read a token file
 * @identities: out
 * @file: of lines token,user,uid[,"group,group"]; NULL: nobody is known by one
 * @anonymous: who shows no token is system:anonymous, rather than sent away
 *
 * Return: true; false after a complaint on stderr, which shows no token.
 */
bool identities_read(struct identities **identities, const char *file,
		     bool anonymous);

void identities_free(struct identities *identities);

/**
 * identity_of() - who asks
 * @identities: who is known
 * @authorization: header; NULL: there is none
 *
 * A scheme other than Bearer counts as no header, as with a kube-apiserver.
 *
 * Return: NULL when the token is unknown, or there is none and there has to be.
 */
const struct identity *identity_of(const struct identities *identities,
				   const char *authorization);

#endif /* APISERVER_IDENTITY_H */
