-- AlterTable
ALTER TABLE "audit_entry" ADD COLUMN     "cluster" TEXT;

-- AlterTable
ALTER TABLE "environment_revision" ADD COLUMN     "actor_cluster" TEXT;

-- AlterTable
ALTER TABLE "secret_version" ADD COLUMN     "changed_by_cluster" TEXT;

-- AlterTable
ALTER TABLE "snapshot" ADD COLUMN     "created_by_cluster" TEXT;
