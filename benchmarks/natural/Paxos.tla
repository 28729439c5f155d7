---- MODULE Paxos ----
(* The Paxos of specs/examples/consensus/paxos.py: the same states, transitions and levels. *)
EXTENDS Integers, FiniteSets
CONSTANTS ACCEPTORS, VALUES, BALLOTS
VARIABLES sent, ballot, voted, value

vars == <<sent, ballot, voted, value>>
Acceptor == 1..ACCEPTORS
Value == 1..VALUES
Ballot == 0..(BALLOTS - 1)
None == 0
Quorum == {Q \in SUBSET Acceptor : Cardinality(Q) = ACCEPTORS \div 2 + 1}

Init ==
  /\ sent = {}
  /\ ballot = [a \in Acceptor |-> -1]
  /\ voted = [a \in Acceptor |-> -1]
  /\ value = [a \in Acceptor |-> None]

Prepare(b) ==
  /\ sent' = sent \cup {[kind |-> "prepare", ballot |-> b]}
  /\ UNCHANGED <<ballot, voted, value>>

Promise(a) ==
  \E m \in {n \in sent : n.kind = "prepare"} :
    /\ m.ballot > ballot[a]
    /\ ballot' = [ballot EXCEPT ![a] = m.ballot]
    /\ sent' = sent \cup {[kind |-> "promise", source |-> a, ballot |-> m.ballot,
                           voted |-> voted[a], value |-> value[a]]}
    /\ UNCHANGED <<voted, value>>

Accept(a) ==
  \E m \in {n \in sent : n.kind = "propose"} :
    /\ m.ballot >= ballot[a]
    /\ ballot' = [ballot EXCEPT ![a] = m.ballot]
    /\ voted' = [voted EXCEPT ![a] = m.ballot]
    /\ value' = [value EXCEPT ![a] = m.value]
    /\ sent' = sent \cup {[kind |-> "accepted", source |-> a, ballot |-> m.ballot,
                           value |-> m.value]}

Propose(b) ==
  /\ ~ \E m \in sent : m.kind = "propose" /\ m.ballot = b
  /\ \E Q \in Quorum :
       LET heard == {m \in sent : m.kind = "promise" /\ m.ballot = b /\ m.source \in Q}
           latest == {m \in heard : \A n \in heard : m.voted >= n.voted}
           reasons == IF \A m \in heard : m.voted < 0
                        THEN {<<None, v>> : v \in Value}
                        ELSE {<<m.source, m.value>> : m \in latest} IN
       /\ Cardinality(heard) = Cardinality(Q)
       /\ \E why \in reasons :
            sent' = sent \cup {[kind |-> "propose", ballot |-> b, value |-> why[2]]}
  /\ UNCHANGED <<ballot, voted, value>>

Next ==
  \/ \E b \in Ballot : Prepare(b) \/ Propose(b)
  \/ \E a \in Acceptor : Promise(a) \/ Accept(a)

Spec == Init /\ [][Next]_vars

Voted(a, b, v) == [kind |-> "accepted", source |-> a, ballot |-> b, value |-> v] \in sent
Chosen == {v \in Value : \E b \in Ballot : \E Q \in Quorum : \A a \in Q : Voted(a, b, v)}
Correct == Cardinality(Chosen) <= 1
Step == [][Chosen \subseteq Chosen']_vars
====
