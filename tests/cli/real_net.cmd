run real_net.task --name net -D x=[[0.5,-0.25,1,0.125],[-1,0.5,0.25,0.75]]
run real_net.task --name net -D x=[[0.5,-0.25,1,0.125],[-1,0.5,0.25,0.75]] --on hw --chip tiny
run real_net.task --name Net.forward -D x=[[0.5,-0.25,1,0.125]] --on hw
run real_net.task --name whole -D x=[1,-2,3,-4] --on hw
