/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the runtime values are handed over in channels: what parts/channels.bpf.c is told of its
 * probes. */
#ifndef CHANNELS_SHARED_H
#define CHANNELS_SHARED_H

enum channels_site {                   /* the copy of the cookie */
		     CHANNEL_SEND = 1, /* send: to who waits to receive */
		     CHANNEL_RECEIVE,  /* recv: from who waits to send */
		     CHANNEL_PUT,      /* into the buffer, */
		     CHANNEL_TAKE,     /* and out of it */
};

#endif
