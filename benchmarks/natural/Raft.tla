---- MODULE Raft ----
(* The Raft of raft.py: the same states, transitions and levels. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS SERVERS, MAX_TERM, MAX_LOG
VARIABLES sent, term, role, voted, log, commit, votes, match

vars == <<sent, term, role, voted, log, commit, votes, match>>
Server == 1..SERVERS
Nobody == 0
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
LastTerm(i) == IF log[i] = <<>> THEN 0 ELSE log[i][Len(log[i])]
Zero == [j \in Server |-> 0]

Init ==
  /\ sent = {}
  /\ term = [i \in Server |-> 1]
  /\ role = [i \in Server |-> "follower"]
  /\ voted = [i \in Server |-> Nobody]
  /\ log = [i \in Server |-> <<>>]
  /\ commit = [i \in Server |-> 0]
  /\ votes = [i \in Server |-> {}]
  /\ match = [i \in Server |-> <<>>]

(* What a server has become after it has seen term t. *)
See(i, t) ==
  /\ term' = [term EXCEPT ![i] = Max(@, t)]
  /\ IF t > term[i]
       THEN /\ votes' = [votes EXCEPT ![i] = {}]
            /\ match' = [match EXCEPT ![i] = Zero]
       ELSE UNCHANGED <<votes, match>>

Timeout(i) ==
  /\ role[i] # "leader" /\ term[i] < MAX_TERM
  /\ term' = [term EXCEPT ![i] = @ + 1]
  /\ role' = [role EXCEPT ![i] = "candidate"]
  /\ voted' = [voted EXCEPT ![i] = i]
  /\ votes' = [votes EXCEPT ![i] = {i}]
  /\ sent' = sent \cup {[kind |-> "request", term |-> term[i] + 1, source |-> i,
                         last |-> LastTerm(i), length |-> Len(log[i])]}
  /\ UNCHANGED <<log, commit, match>>

Vote(i) ==
  \E m \in {n \in sent : n.kind = "request"} :
    LET new == IF m.term > term[i] THEN Nobody ELSE voted[i] IN
    /\ m.source # i /\ m.term >= term[i]
    /\ IF m.last = LastTerm(i) THEN m.length >= Len(log[i]) ELSE m.last > LastTerm(i)
    /\ new \in {Nobody, m.source}
    /\ See(i, m.term)
    /\ role' = [role EXCEPT ![i] = IF m.term > term[i] THEN "follower" ELSE @]
    /\ voted' = [voted EXCEPT ![i] = m.source]
    /\ sent' = sent \cup {[kind |-> "vote", term |-> m.term, source |-> i, dest |-> m.source]}
    /\ UNCHANGED <<log, commit>>

CountVote(i, j) ==
  /\ j # i /\ role[i] = "candidate"
  /\ [kind |-> "vote", term |-> term[i], source |-> j, dest |-> i] \in sent
  /\ votes' = [votes EXCEPT ![i] = @ \cup {j}]
  /\ UNCHANGED <<sent, term, role, voted, log, commit, match>>

BecomeLeader(i) ==
  /\ role[i] = "candidate" /\ 2 * Cardinality(votes[i]) > SERVERS
  /\ role' = [role EXCEPT ![i] = "leader"]
  /\ match' = [match EXCEPT ![i] = Zero]
  /\ UNCHANGED <<sent, term, voted, log, commit, votes>>

ClientRequest(i) ==
  /\ role[i] = "leader" /\ Len(log[i]) < MAX_LOG
  /\ log' = [log EXCEPT ![i] = Append(@, term[i])]
  /\ UNCHANGED <<sent, term, role, voted, commit, votes, match>>

AppendEntries(i, j) ==
  /\ j # i /\ role[i] = "leader"
  /\ LET prev == match[i][j] IN
     sent' = sent \cup {[kind |-> "append", term |-> term[i], source |-> i, dest |-> j,
                         prev |-> prev, prevTerm |-> IF prev > 0 THEN log[i][prev] ELSE 0,
                         entries |-> SubSeq(log[i], prev + 1, Min(prev + 1, Len(log[i]))),
                         commit |-> commit[i]]}
  /\ UNCHANGED <<term, role, voted, log, commit, votes, match>>

ReceiveAppend(i) ==
  \E m \in {n \in sent : n.kind = "append" /\ n.dest = i} :
    LET end == m.prev + Len(m.entries)
        same == SubSeq(log[i], m.prev + 1, Min(m.prev + 1, Len(log[i]))) = m.entries IN
    /\ m.term >= term[i]
    /\ m.prev > 0 => m.prev <= Len(log[i]) /\ log[i][m.prev] = m.prevTerm
    /\ See(i, m.term)
    /\ voted' = [voted EXCEPT ![i] = IF m.term > term[i] THEN Nobody ELSE @]
    /\ role' = [role EXCEPT ![i] = IF m.term > term[i] \/ @ = "candidate" THEN "follower" ELSE @]
    /\ log' = [log EXCEPT ![i] = IF m.entries = <<>> \/ same THEN @
                                 ELSE SubSeq(@, 1, m.prev) \o m.entries]
    /\ commit' = [commit EXCEPT ![i] = Max(@, Min(m.commit, end))]
    /\ sent' = sent \cup {[kind |-> "ack", term |-> m.term, source |-> i, dest |-> m.source,
                           match |-> end]}

ReceiveAck(i) ==
  \E m \in {n \in sent : n.kind = "ack" /\ n.dest = i} :
    /\ m.term = term[i] /\ role[i] = "leader" /\ m.match > match[i][m.source]
    /\ match' = [match EXCEPT ![i][m.source] = m.match]
    /\ UNCHANGED <<sent, term, role, voted, log, commit, votes>>

AdvanceCommit(i) ==
  /\ role[i] = "leader" /\ commit[i] < Len(log[i])
  /\ 2 * (1 + Cardinality({j \in Server \ {i} : match[i][j] > commit[i]})) > SERVERS
  /\ log[i][commit[i] + 1] = term[i]
  /\ commit' = [commit EXCEPT ![i] = @ + 1]
  /\ UNCHANGED <<sent, term, role, voted, log, votes, match>>

Next ==
  \E i \in Server :
    \/ Timeout(i) \/ Vote(i) \/ BecomeLeader(i) \/ ClientRequest(i)
    \/ ReceiveAppend(i) \/ ReceiveAck(i) \/ AdvanceCommit(i)
    \/ \E j \in Server : CountVote(i, j) \/ AppendEntries(i, j)

Spec == Init /\ [][Next]_vars

Prefix(i, n) == SubSeq(log[i], 1, n)
Correct ==
  \A i, j \in Server : i < j =>
    /\ ~(role[i] = "leader" /\ role[j] = "leader" /\ term[i] = term[j])
    /\ LET both == Min(commit[i], commit[j]) IN Prefix(i, both) = Prefix(j, both)
====
