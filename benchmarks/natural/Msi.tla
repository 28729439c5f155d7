---- MODULE Msi ----
(* The caches and the directory of msi.py: the same states, transitions and levels. *)
EXTENDS Naturals, FiniteSets
CONSTANTS CACHES, VALUES
VARIABLES sent, line, value, waiting, memory, owner, sharers, serving

caches == <<line, value, waiting>>
directory == <<memory, owner, sharers, serving>>
vars == <<sent, caches, directory>>
Cache == 1..CACHES
Nobody == 0
Nothing == [kind |-> "none", cache |-> Nobody, exclusive |-> FALSE]
Sent(kind) == {m \in sent : m.kind = kind}

Init ==
  /\ sent = {}
  /\ line = [c \in Cache |-> "invalid"]
  /\ value = [c \in Cache |-> 0]
  /\ waiting = [c \in Cache |-> FALSE]
  /\ memory = 0
  /\ owner = Nobody
  /\ sharers = {}
  /\ serving = Nothing

Want(c, exclusive) ==
  /\ ~waiting[c] /\ line[c] # "modified"
  /\ line[c] = "shared" => exclusive
  /\ waiting' = [waiting EXCEPT ![c] = TRUE]
  /\ sent' = sent \cup {[kind |-> "get", cache |-> c, exclusive |-> exclusive]}
  /\ UNCHANGED <<line, value, directory>>

Drop(c) ==
  /\ line' = [line EXCEPT ![c] = "invalid"]
  /\ value' = [value EXCEPT ![c] = 0]
  /\ UNCHANGED <<waiting, directory>>

ReceiveInvalidate(c) ==
  LET m == [kind |-> "invalidate", cache |-> c] IN
  /\ m \in sent
  /\ sent' = (sent \ {m}) \cup {[kind |-> "invalidated", cache |-> c]}
  /\ Drop(c)

ReceiveFetch(c) ==
  LET m == [kind |-> "fetch", cache |-> c] IN
  /\ m \in sent
  /\ sent' = (sent \ {m}) \cup {[kind |-> "write back", cache |-> c, value |-> value[c]]}
  /\ Drop(c)

ReceiveData(c) ==
  \E m \in {n \in Sent("data") : n.cache = c} :
    /\ sent' = (sent \ {m}) \cup {[kind |-> "received", cache |-> c]}
    /\ line' = [line EXCEPT ![c] = IF m.exclusive THEN "modified" ELSE "shared"]
    /\ value' = [value EXCEPT ![c] = m.value]
    /\ waiting' = [waiting EXCEPT ![c] = FALSE]
    /\ UNCHANGED directory

Write(c, v) ==
  /\ line[c] = "modified" /\ v # value[c]
  /\ value' = [value EXCEPT ![c] = v]
  /\ UNCHANGED <<sent, line, waiting, directory>>

ReceiveGet ==
  /\ serving = Nothing
  /\ \E m \in Sent("get") :
       /\ serving' = m
       /\ sent' = (sent \ {m}) \cup
            IF owner # Nobody THEN {[kind |-> "fetch", cache |-> owner]}
            ELSE IF m.exclusive
              THEN {[kind |-> "invalidate", cache |-> c] : c \in sharers \ {m.cache}}
              ELSE {}
  /\ UNCHANGED <<caches, memory, owner, sharers>>

ReceiveWriteBack ==
  \E m \in Sent("write back") :
    /\ sent' = sent \ {m}
    /\ memory' = m.value
    /\ owner' = Nobody
    /\ UNCHANGED <<caches, sharers, serving>>

ReceiveInvalidated ==
  \E m \in Sent("invalidated") :
    /\ sent' = sent \ {m}
    /\ sharers' = sharers \ {m.cache}
    /\ UNCHANGED <<caches, memory, owner, serving>>

Answer ==
  LET c == serving.cache IN
  /\ serving # Nothing /\ owner = Nobody
  /\ IF serving.exclusive
       THEN sharers \ {c} = {} /\ owner' = c /\ sharers' = {}
       ELSE c \notin sharers /\ sharers' = sharers \cup {c} /\ UNCHANGED owner
  /\ sent' = sent \cup {[kind |-> "data", cache |-> c, value |-> memory,
                         exclusive |-> serving.exclusive]}
  /\ UNCHANGED <<caches, memory, serving>>

ReceiveReceived ==
  \E m \in Sent("received") :
    /\ sent' = sent \ {m}
    /\ serving' = Nothing
    /\ UNCHANGED <<caches, memory, owner, sharers>>

Next ==
  \/ ReceiveGet \/ ReceiveWriteBack \/ ReceiveInvalidated \/ Answer \/ ReceiveReceived
  \/ \E c \in Cache :
       \/ ReceiveInvalidate(c) \/ ReceiveFetch(c) \/ ReceiveData(c)
       \/ \E exclusive \in BOOLEAN : Want(c, exclusive)
       \/ \E v \in 0..(VALUES - 1) : Write(c, v)

Spec == Init /\ [][Next]_vars

Correct ==
  /\ \A c, d \in Cache : c # d /\ line[c] = "modified" => line[d] = "invalid"
  /\ \A c \in Cache : line[c] = "shared" => value[c] = memory
====
