/* Reads the request and runs its verb. */
#include "helper.h"

static struct request request;
static char buffer[MAX_REQUEST];

int main(void)
{
	errno = EBADMSG;
	if (receive(&request, buffer) <= 0) die("request", NULL);
	switch (request.verb) {
	case VERB_BASE: base(&request);
	case VERB_SLOT: slot(&request);
	case VERB_RUN: run(&request);
	case VERB_ZYGOTE: start_zygote(&request);
	case VERB_LISTEN: listen_for(&request);
	}
	check(&request); /* the one that is left: decode knows no other */
}
