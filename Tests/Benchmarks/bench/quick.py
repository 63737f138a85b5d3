import sys, time, os, types, json
sys.path.insert(0, os.path.dirname(__file__))
from arena import *; from load import Load; import machine
parts = types.SimpleNamespace(program=os.environ["P"], benchmarks=os.environ["B"], kafka=os.environ["K"], postgres=os.environ["PG"], pgpid=int(os.environ["PGPID"]), brokerpid=int(os.environ["KPID"]))
N=int(sys.argv[1]); W=int(sys.argv[2])
with Arena(parts) as a:
    l=Load(1); recs=l.take(N+W); a.produce(recs)
    w=a.start_worker()
    if len(sys.argv)>3: print(w.pid)
    b=a.wait_for(W,60); t=time.monotonic(); c=(machine.own(w.pid),machine.tree(parts.pgpid),machine.own(parts.brokerpid),machine.own(a.provider.pid),machine.box())
    if os.environ.get("PERF"):
        import subprocess
        subprocess.Popen(["perf","record","-F","999","--call-graph","fp","-p",str(w.pid),"-o","/tmp/perf.data","--","sleep","8"],stderr=subprocess.DEVNULL,stdout=subprocess.DEVNULL)
    e=a.wait_for(W+int(N*0.97),60); T=time.monotonic()-t
    d=(machine.own(w.pid),machine.tree(parts.pgpid),machine.own(parts.brokerpid),machine.own(a.provider.pid),machine.box())
    n=e-b
    print(json.dumps({"rps":round(n/T),**{k:round((y-x)/n,1) for k,x,y in zip(("worker","pg","broker","provider","box"),c,d)},"rss":machine.resident(w.pid),"kinds":l.kinds}))
    if os.environ.get("LOG"): os.system(f"head -c 3000 {a.folder}/1.log")
    if os.environ.get("STAT"):
        with a.server() as s:
            for r in s.execute("select calls, rows, round(total_exec_time::numeric*1000/%s,1) us, round(total_plan_time::numeric*1000/%s,1) planus, round((wal_bytes/%s)::numeric) wal, left(regexp_replace(query,'\\s+',' ','g'),90) q from pg_stat_statements s join pg_database d on d.oid=s.dbid where datname=%s order by total_exec_time+total_plan_time desc limit 24",(n,n,n,a.name)): print(r)
