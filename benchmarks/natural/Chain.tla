---- MODULE Chain ----
(* The chain replication of chain.py: the same states, transitions and levels. *)
EXTENDS Naturals, Sequences
CONSTANTS NODES, WRITES
VARIABLES sent, chain, log, stable

vars == <<sent, chain, log, stable>>
Node == 1..NODES
Place(i) == CHOOSE p \in DOMAIN chain : chain[p] = i
Nobody == 0
Before(i) == IF Place(i) = 1 THEN Nobody ELSE chain[Place(i) - 1]
After(i) == IF Place(i) = Len(chain) THEN Nobody ELSE chain[Place(i) + 1]
Acknowledged(i, n) ==
  IF Before(i) = Nobody THEN sent
  ELSE sent \cup {[kind |-> "ack", source |-> i, dest |-> Before(i), upto |-> n]}

Init ==
  /\ sent = {}
  /\ chain = [i \in Node |-> i]
  /\ log = [i \in Node |-> <<>>]
  /\ stable = [i \in Node |-> 0]

Remove(i) ==
  /\ Len(chain) > 1
  /\ chain' = SelectSeq(chain, LAMBDA j : j # i)
  /\ UNCHANGED <<sent, log, stable>>

Write(i, v) ==
  /\ Before(i) = Nobody /\ \A p \in DOMAIN log[i] : log[i][p] # v
  /\ log' = [log EXCEPT ![i] = Append(@, v)]
  /\ UNCHANGED <<sent, chain, stable>>

Forward(i) ==
  /\ After(i) # Nobody
  /\ \E m \in {[kind |-> "update", source |-> i, dest |-> After(i), position |-> p,
                value |-> log[i][p]] : p \in DOMAIN log[i]} \ sent :
       sent' = sent \cup {m}
  /\ UNCHANGED <<chain, log, stable>>

ReceiveUpdate(i) ==
  \E m \in {n \in sent : n.kind = "update" /\ n.dest = i} :
    /\ m.position = Len(log[i]) + 1 /\ m.source = Before(i)
    /\ log' = [log EXCEPT ![i] = Append(@, m.value)]
    /\ UNCHANGED <<sent, chain, stable>>

Commit(i) ==
  /\ After(i) = Nobody /\ stable[i] < Len(log[i])
  /\ stable' = [stable EXCEPT ![i] = Len(log[i])]
  /\ sent' = Acknowledged(i, Len(log[i]))
  /\ UNCHANGED <<chain, log>>

ReceiveAck(i) ==
  LET acks == {m.upto : m \in {n \in sent : n.kind = "ack" /\ n.dest = i /\ n.source = After(i)}}
      upto == CHOOSE n \in acks : \A other \in acks : n >= other IN
  /\ acks # {} /\ upto > stable[i]
  /\ stable' = [stable EXCEPT ![i] = upto]
  /\ sent' = Acknowledged(i, upto)
  /\ UNCHANGED <<chain, log>>

Next ==
  \E i \in {chain[p] : p \in DOMAIN chain} :
    \/ Remove(i) \/ Forward(i) \/ ReceiveUpdate(i) \/ Commit(i) \/ ReceiveAck(i)
    \/ \E v \in 1..WRITES : Write(i, v)

Spec == Init /\ [][Next]_vars

Prefix(i, n) == SubSeq(log[i], 1, IF n > Len(log[i]) THEN Len(log[i]) ELSE n)
Correct ==
  /\ \A p, q \in DOMAIN chain : p < q => Prefix(chain[p], Len(log[chain[q]])) = log[chain[q]]
  /\ \A p \in DOMAIN chain : \A j \in Node : Prefix(chain[p], stable[j]) = Prefix(j, stable[j])
====
