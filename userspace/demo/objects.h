/* SPDX-License-Identifier: GPL-2.0 */
/* What answering a request costs a server of the demo. */
#ifndef DEMO_OBJECTS_H
#define DEMO_OBJECTS_H

/* Both answer on a socket; 0, or -1 when the client is gone. */
int objects_list(int fd);
int objects_write(int fd);

#endif /* DEMO_OBJECTS_H */
