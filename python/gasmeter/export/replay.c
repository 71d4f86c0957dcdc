/* Replays what each rank of a recorded block did, on SimGrid's SMPI. README.md beside this file says how.
 *
 * Process i runs the program of rank i: its steps are work on its core, sends, receives. Where ranks put or get, process
 * N + i is the network interface of rank i on the same host: it takes what comes, answers at once and tells its rank,
 * without the rank's core. Messages leave when they are sent, whether anybody waits for them or not.
 *
 * trace.txt, all numbers in decimal:
 *   ranks N interfaces 0|1
 *   program i COUNT      then COUNT steps: w PS | s PROCESS BYTES TAG | r PROCESS BYTES TAG
 *   interface i COUNT    then COUNT messages: a PROCESS BYTES TAG ANSWER_BYTES ANSWER_TAG NOTICED, by process, in order;
 *                        ANSWER_BYTES -1: no answer
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_LIMIT 1000000 /* tags are used again after so many */
#define MPI_HEADER 16     /* bytes that SMPI adds to each message; the trace's have their headers already */

typedef struct {
  char what;
  long long process, bytes, tag, answer_bytes, answer_tag;
  int noticed;
} Step;

static void fail(const char* what) {
  fprintf(stderr, "replay: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int count_of(long long bytes) { return bytes > MPI_HEADER ? (int)(bytes - MPI_HEADER) : 0; }

static int tag_of(long long tag) { return (int)(tag % TAG_LIMIT); }

/* Contents do not matter: one piece of memory serves all messages. */
static char* buffer_of(long long bytes) {
  static char* buffer = NULL;
  static long long size = 0;
  if (buffer == NULL || bytes > size) {
    size = bytes > 65536 ? bytes : 65536;
    buffer = malloc((size_t)size); /* an older one may still be sent from */
    if (buffer == NULL) fail("no memory");
    memset(buffer, 0, (size_t)size);
  }
  return buffer;
}

static void send(long long to, long long bytes, long long tag) {
  MPI_Request request;
  MPI_Isend(buffer_of(bytes), count_of(bytes), MPI_BYTE, (int)to, tag_of(tag), MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}

static Step* read_steps(FILE* file, const char* section, int number, long long* count) {
  char word[32];
  int index;
  Step* steps = NULL;
  while (fscanf(file, "%31s %d %lld", word, &index, count) == 3) {
    const int mine = strcmp(word, section) == 0 && index == number;
    if (mine) steps = calloc((size_t)*count + 1, sizeof(Step));
    for (long long i = 0; i < *count; ++i) {
      Step step = {0};
      int read = fscanf(file, " %c", &step.what);
      if (step.what == 'w') read += fscanf(file, "%lld", &step.bytes) + 2;
      else read += fscanf(file, "%lld %lld %lld", &step.process, &step.bytes, &step.tag);
      if (step.what == 'a') read += fscanf(file, "%lld %lld %d", &step.answer_bytes, &step.answer_tag, &step.noticed) - 3;
      if (read != 4) fail("the trace is damaged");
      if (mine) steps[i] = step;
    }
    if (mine) return steps;
  }
  fail("the trace lacks a process");
  return NULL;
}

static void run_program(int rank, const Step* steps, long long count) {
  for (const Step* step = steps; step != steps + count; ++step) {
    if (step->what == 'w') smpi_execute_flops((double)step->bytes / 1e3); /* hosts compute one flop a ns */
    if (step->what == 's') send(step->process, step->bytes, step->tag);
    if (step->what == 'r') {
      MPI_Recv(buffer_of(step->bytes), count_of(step->bytes), MPI_BYTE, (int)step->process, tag_of(step->tag), MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
  }
  printf("rank %d ends at %.3f ns\n", rank, MPI_Wtime() * 1e9);
}

/* Expects the next message of each source; whichever comes first is served first. */
static void run_interface(int rank, const Step* steps, long long count) {
  const Step** next = calloc((size_t)count + 1, sizeof *next);
  MPI_Request* requests = calloc((size_t)count + 1, sizeof *requests);
  int sources = 0;
  for (long long i = 0; i < count; ++i) {
    if (i == 0 || steps[i].process != steps[i - 1].process) next[sources++] = &steps[i];
  }
  for (int i = 0; i < sources; ++i) {
    MPI_Irecv(buffer_of(next[i]->bytes), count_of(next[i]->bytes), MPI_BYTE, (int)next[i]->process, tag_of(next[i]->tag),
              MPI_COMM_WORLD, &requests[i]);
  }
  for (long long served = 0; served < count; ++served) {
    int which = MPI_UNDEFINED;
    MPI_Waitany(sources, requests, &which, MPI_STATUS_IGNORE);
    const Step* came = next[which]++;
    if (came->answer_bytes >= 0) send(came->process, came->answer_bytes, came->answer_tag);
    if (came->noticed) send(rank, 1, came->tag);
    const Step* other = next[which];
    if (other < steps + count && other->process == came->process) {
      MPI_Irecv(buffer_of(other->bytes), count_of(other->bytes), MPI_BYTE, (int)other->process, tag_of(other->tag),
                MPI_COMM_WORLD, &requests[which]);
    }
  }
  free(next);
  free(requests);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int process, processes, ranks, interfaces;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  FILE* file = fopen(argc > 1 ? argv[1] : "trace.txt", "r");
  if (file == NULL) fail("no trace; give its name as the argument");
  if (fscanf(file, " ranks %d interfaces %d", &ranks, &interfaces) != 2) fail("the trace is damaged");
  if (processes != ranks * (interfaces ? 2 : 1)) fail("the trace is of another number of processes");
  long long count = 0;
  const int number = process % ranks;
  Step* steps = read_steps(file, process < ranks ? "program" : "interface", number, &count);
  fclose(file);
  if (process < ranks) run_program(number, steps, count);
  else run_interface(number, steps, count);
  free(steps);
  MPI_Finalize();
  return 0;
}
