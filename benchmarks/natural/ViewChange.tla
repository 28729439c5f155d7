---- MODULE ViewChange ----
(* The view change of viewchange.py: the same states, transitions and levels. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS REPLICAS, MAX_VIEW, MAX_LOG
VARIABLES sent, view, status, log, last, commit

vars == <<sent, view, status, log, last, commit>>
Replica == 0..(REPLICAS - 1)
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Majority(n) == 2 * n > REPLICAS
IsPrimary(i) == view[i] % REPLICAS = i
Normal(i) == status[i] = "normal"
Seen(kind, v) == {m \in sent : m.kind = kind /\ m.view = v}

Init ==
  /\ sent = {}
  /\ view = [i \in Replica |-> 0]
  /\ status = [i \in Replica |-> "normal"]
  /\ log = [i \in Replica |-> <<>>]
  /\ last = [i \in Replica |-> 0]
  /\ commit = [i \in Replica |-> 0]

ClientRequest(i) ==
  /\ IsPrimary(i) /\ Normal(i) /\ Len(log[i]) < MAX_LOG
  /\ log' = [log EXCEPT ![i] = Append(@, view[i])]
  /\ sent' = sent \cup {[kind |-> "prepare", view |-> view[i], number |-> Len(log[i]) + 1,
                         entry |-> view[i], commit |-> commit[i]]}
  /\ UNCHANGED <<view, status, last, commit>>

ReceivePrepare(i) ==
  /\ ~IsPrimary(i) /\ Normal(i)
  /\ \E m \in Seen("prepare", view[i]) :
       /\ m.number = Len(log[i]) + 1
       /\ log' = [log EXCEPT ![i] = Append(@, m.entry)]
       /\ commit' = [commit EXCEPT ![i] = Max(@, m.commit)]
       /\ sent' = sent \cup {[kind |-> "ok", view |-> view[i], number |-> m.number,
                              source |-> i]}
  /\ UNCHANGED <<view, status, last>>

AdvanceCommit(i) ==
  /\ IsPrimary(i) /\ Normal(i) /\ commit[i] < Len(log[i])
  /\ LET have == {m.source : m \in {n \in Seen("ok", view[i]) : n.number > commit[i]}} IN
     Majority(Cardinality(have) + 1)
  /\ commit' = [commit EXCEPT ![i] = @ + 1]
  /\ UNCHANGED <<sent, view, status, log, last>>

Join(i, v) ==
  /\ view' = [view EXCEPT ![i] = v]
  /\ status' = [status EXCEPT ![i] = "changing"]
  /\ sent' = sent \cup {[kind |-> "start view change", view |-> v, source |-> i]}
  /\ UNCHANGED <<log, last, commit>>

Suspect(i) == view[i] < MAX_VIEW /\ Join(i, view[i] + 1)

ReceiveStartViewChange(i) ==
  \E v \in {m.view : m \in {n \in sent : n.kind = "start view change"}} :
    v > view[i] /\ Join(i, v)

SendDoViewChange(i) ==
  /\ status[i] = "changing"
  /\ Majority(Cardinality(Seen("start view change", view[i])))
  /\ LET m == [kind |-> "do view change", view |-> view[i], source |-> i, log |-> log[i],
               last |-> last[i], commit |-> commit[i]] IN
     m \notin sent /\ sent' = sent \cup {m}
  /\ UNCHANGED <<view, status, log, last, commit>>

Install(i, v, entries, upto) ==
  /\ view' = [view EXCEPT ![i] = v]
  /\ status' = [status EXCEPT ![i] = "normal"]
  /\ log' = [log EXCEPT ![i] = entries]
  /\ last' = [last EXCEPT ![i] = v]
  /\ commit' = [commit EXCEPT ![i] = Max(@, upto)]

StartView(i) ==
  LET seen == Seen("do view change", view[i])
      best == CHOOSE m \in seen : \A n \in seen :
                IF m.last = n.last THEN Len(m.log) >= Len(n.log) ELSE m.last > n.last
      upto == CHOOSE c \in {m.commit : m \in seen} : \A n \in seen : c >= n.commit IN
  /\ IsPrimary(i) /\ status[i] = "changing" /\ Majority(Cardinality(seen))
  /\ Install(i, view[i], best.log, upto)
  /\ sent' = sent \cup {[kind |-> "start view", view |-> view[i], log |-> best.log,
                         commit |-> Max(commit[i], upto)]}

ReceiveStartView(i) ==
  \E m \in {n \in sent : n.kind = "start view" /\ n.view >= view[i]} :
    /\ m.view = view[i] => status[i] = "changing"
    /\ Install(i, m.view, m.log, m.commit)
    /\ UNCHANGED sent

Next ==
  \E i \in Replica :
    \/ ClientRequest(i) \/ ReceivePrepare(i) \/ AdvanceCommit(i) \/ Suspect(i)
    \/ ReceiveStartViewChange(i) \/ SendDoViewChange(i) \/ StartView(i) \/ ReceiveStartView(i)

Spec == Init /\ [][Next]_vars

Prefix(i, n) == SubSeq(log[i], 1, Min(n, Len(log[i])))
Correct ==
  \A i, j \in Replica : i < j =>
    /\ LET both == Min(commit[i], commit[j]) IN Prefix(i, both) = Prefix(j, both)
    /\ ~(IsPrimary(i) /\ IsPrimary(j) /\ Normal(i) /\ Normal(j) /\ view[i] = view[j])
====
