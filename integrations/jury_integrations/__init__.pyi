from jury_integrations.errors import DebateUnfinished as DebateUnfinished
from jury_integrations.hosted_jury import HostedJury as HostedJury
from jury_integrations.mcp.judging import McpJudging as McpJudging
from jury_integrations.mcp.server import mcp_server as mcp_server
