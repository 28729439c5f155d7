/* Two-phase commit for SPIN: the same steps from the same states as models/toys/two_phase_commit.py.

   One process, whose every step is a d_step, so that states and steps are counted as statewalk counts
   them: 10,340,352 states with 9 managers. Sets of managers are the bits of a word, which keeps
   SPIN's states short. The assertion stands where a manager decides: nothing else can falsify it.

     spin -a -DRMS=9 search.pml && gcc -O2 -DSAFETY -DNOREDUCE pan.c -o pan && ./pan -m10000 -w24
     with -DBFS after -DSAFETY: breadth first
*/

#ifndef RMS
#define RMS 7
#endif

#define WORKING   0   /* a manager; the coordinator begins at 0 too */
#define PREPARED  1
#define COMMITTED 2
#define ABORTED   3

#define ALL       ((1 << RMS) - 1)
#define HAS(set, rm)   (set & (1 << rm))

byte rm[RMS]
short sent, heard         /* the managers that sent Prepared; those that the coordinator heard */
short committed, aborted  /* what rm says too, for the assertion: they make no more states */
byte tm
bit commit, abort

#define DECIDE(i, what)  rm[i] = what; \
    committed = (what == COMMITTED -> committed | (1 << i) : committed & ~(1 << i)); \
    aborted = (what == ABORTED -> aborted | (1 << i) : aborted & ~(1 << i)); \
    assert(committed == 0 || aborted == 0)

#define MANAGER(i) \
    :: d_step { rm[i] == WORKING -> rm[i] = PREPARED; sent = sent | (1 << i) } \
    :: d_step { rm[i] == WORKING -> DECIDE(i, ABORTED) } \
    :: d_step { commit -> DECIDE(i, COMMITTED) } \
    :: d_step { abort -> DECIDE(i, ABORTED) } \
    :: d_step { tm == WORKING && HAS(sent, i) -> heard = heard | (1 << i) }

active proctype protocol() {
    do
    :: d_step { tm == WORKING && heard == ALL -> tm = COMMITTED; commit = 1 }
    :: d_step { tm == WORKING -> tm = ABORTED; abort = 1 }
    MANAGER(0)
    MANAGER(1)
    MANAGER(2)
#if RMS > 3
    MANAGER(3)
#endif
#if RMS > 4
    MANAGER(4)
#endif
#if RMS > 5
    MANAGER(5)
#endif
#if RMS > 6
    MANAGER(6)
#endif
#if RMS > 7
    MANAGER(7)
#endif
#if RMS > 8
    MANAGER(8)
#endif
#if RMS > 9
    MANAGER(9)
#endif
    od
}
